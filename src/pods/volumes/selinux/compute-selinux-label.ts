import type { SELinuxOptions } from '../../../model/generated/core-v1.ts'
import { allContainers } from '../../../model/pod/pod-containers.ts'
import type { Pod } from '../../../model/pod/pod.ts'
import type { VolumeSource } from '../desired-volume.ts'

export interface SelinuxLabelInput {
  readonly pod: Pod
  /** As in spec.volumes[].name. */
  readonly volumeName: string
  /** What files of containers have on this machine, as in "system_u:object_r:container_file_t:s0". */
  readonly fileContext: string
  /** Gate SELinuxChangePolicy: pods may ask for relabelling. */
  readonly obeysChangePolicy: boolean
}

/** What a volume is to be labelled with; an empty label is one that the runtime chooses, or that nothing asks for. */
export type SelinuxLabel =
  | { readonly kind: 'label'; readonly label: string }
  | { readonly kind: 'container' | 'pod'; readonly message: string }

// It goes into the options of a mount, where a quote or a newline would begin something else.
const LABEL = /^[\w.:,-]+$/

/** The one SELinux label that all containers with a volume agree on. */
export function computeSelinuxLabel(input: SelinuxLabelInput): SelinuxLabel {
  const { pod, volumeName, fileContext, obeysChangePolicy } = input
  const { seLinuxOptions: common, seLinuxChangePolicy } = pod.spec.securityContext ?? {}
  const options = allContainers(pod)
    .filter(({ container }) => container.volumeMounts?.some(({ name }) => name === volumeName) === true)
    .flatMap(({ container }) => container.securityContext?.seLinuxOptions ?? common ?? [])
  const labels = new Set(options.map((one) => toFileLabel(one, fileContext)))
  const odd = [...labels].find((label) => !LABEL.test(label) && label !== '')
  if (odd !== undefined)
    return { kind: 'container', message: `failed to construct SELinux label from context ${JSON.stringify(odd)}` }
  if (labels.size > 1) return { kind: 'pod', message: `multiple SELinux labels found: ${[...labels].join(',')}` }
  const [label = ''] = labels
  // Only the runtime knows the level that it chooses.
  const isKnown = options.every(({ level = '' }) => level !== '')
  const isRelabelled = obeysChangePolicy && seLinuxChangePolicy === 'Recursive'
  return { kind: 'label', label: isKnown && !isRelabelled ? label : '' }
}

/** Of a process: its files have the type that the machine has for files of containers, and its user and level. */
function toFileLabel({ user = '', role = '', type = '', level = '' }: SELinuxOptions, fileContext: string): string {
  if ([user, role, type, level].every((part) => part === '')) return ''
  const [ownUser = '', ownRole = '', ownType = '', ...ownLevel] = fileContext.split(':')
  return [user || ownUser, ownRole, ownType, level || ownLevel.join(':')].join(':')
}

/** How metrics name who may use a volume: by the most that it allows. */
export function accessModeLabel(source: VolumeSource): string {
  if (source.kind === 'inline') return 'inline'
  const modes = source.volume.spec?.accessModes ?? []
  return MODES.find(([mode]) => modes.includes(mode))?.[1] ?? ''
}

const MODES = [
  ['ReadWriteMany', 'RWX'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteOnce', 'RWO'],
  ['ReadWriteOncePod', 'RWOP'],
] as const

/** Whether a volume may be mounted with a label at all: others are shared by pods that never had to agree on one. */
export function isLabelledMode(
  source: VolumeSource,
  gates: { readonly forOnePod: boolean; readonly forAll: boolean },
): boolean {
  if (source.kind === 'inline' || !gates.forOnePod) return false
  const modes = source.volume.spec?.accessModes ?? []
  return gates.forAll || (modes.length === 1 && modes[0] === 'ReadWriteOncePod')
}

/** The option of mount for a label; quoted, because levels have commas. */
export function selinuxMountOptions(label: string | undefined): readonly string[] {
  return label === undefined || label === '' ? [] : [`context="${label}"`]
}
