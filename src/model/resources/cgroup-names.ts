import { computeQosClass } from './compute-qos-class.ts'
import type { QosClass } from './compute-qos-class.ts'
import { isPodUid } from '../pod/pod.ts'
import type { Pod, PodUid } from '../pod/pod.ts'

/** Where the agent keeps the cgroups of pods, and how their names are written. */
export interface CgroupLayout {
  readonly driver: 'cgroupfs' | 'systemd'
  /** The cgroup above everything of ours, "/" or a path such as "/deckhand"; always in the form of cgroupfs. */
  readonly root: string
  /** False: no tree of pods at all, containers sit directly in the root. */
  readonly perQos: boolean
}

const QOS_PARTS: Readonly<Record<QosClass, readonly string[]>> = {
  Guaranteed: [],
  Burstable: ['burstable'],
  BestEffort: ['besteffort'],
}

/** The cgroup of one pod as the runtime gets it; the root itself when there is no tree of pods. */
export function podCgroupPath(pod: Pod, layout: CgroupLayout): string {
  const parts = ['kubepods', ...QOS_PARTS[computeQosClass(pod)], `pod${pod.metadata.uid}`]
  return cgroupPath(layout.perQos ? parts : [], layout)
}

/** Every cgroup that a pod of this UID can have: its class is not known of what is left of a pod. */
export function podCgroupPaths(uid: PodUid, layout: CgroupLayout): string[] {
  return Object.values(QOS_PARTS).map((parts) => cgroupPath(['kubepods', ...parts, `pod${uid}`], layout))
}

/** The cgroups in which the cgroups of pods lie. */
export function qosCgroupPaths(layout: CgroupLayout): string[] {
  return Object.values(QOS_PARTS).map((parts) => cgroupPath(['kubepods', ...parts], layout))
}

/** The cgroup above everything of ours. */
export function rootCgroupPath(layout: CgroupLayout): string {
  return cgroupPath([], layout)
}

/** A cgroup that already exists, as the configuration names it: for systemd by the name of its slice, wherever that lies. */
export function namedCgroupPath(name: string, { driver }: CgroupLayout): string {
  const parts = name.split('/').filter((part) => part !== '')
  const slice = parts.at(-1)?.replace(/\.slice$/, '')
  if (driver === 'cgroupfs' || slice === undefined) return `/${parts.join('/')}`
  return `/${joinSlices(slice.split('-')).join('/')}`
}

/** The pod to which a cgroup of this name belongs, in either driver's spelling. */
export function podUidOfCgroup(name: string): PodUid | undefined {
  const uid = /^(?:kubepods-(?:\w+-)?)?pod([\w-]+?)(?:\.slice)?$/.exec(name)?.[1]?.replaceAll('_', '-')
  return uid !== undefined && isPodUid(uid) ? uid : undefined
}

function cgroupPath(parts: readonly string[], { driver, root }: CgroupLayout): string {
  const all = [...root.split('/').filter((part) => part !== ''), ...parts]
  return `/${(driver === 'systemd' ? slices(all) : all).join('/')}`
}

/** systemd names a slice after all slices above it: a-b.slice lies in a.slice, so a dash inside a name must go. */
function slices(parts: readonly string[]): string[] {
  return joinSlices(parts.map((part) => part.replaceAll('-', '_')))
}

function joinSlices(names: readonly string[]): string[] {
  return names.map((_, index) => `${names.slice(0, index + 1).join('-')}.slice`)
}
