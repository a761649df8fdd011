import type { SelinuxMetrics } from '../../../metrics/selinux-metrics.ts'
import type { FeatureGates } from '../../../model/config/gates/feature-gates.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { DesiredVolume, SelinuxChoice } from '../desired-volume.ts'
import type { SelinuxIdentity } from '../volume-kind.ts'
import { accessModeLabel, computeSelinuxLabel, isLabelledMode } from './compute-selinux-label.ts'

interface SelinuxGates {
  readonly forOnePod: boolean
  /** Volumes of every access mode. */
  readonly forAll: boolean
  readonly changePolicy: boolean
}

export function toSelinuxGates(gates: FeatureGates): SelinuxGates {
  return {
    forOnePod: gates.enabled('SELinuxMountReadWriteOncePod'),
    forAll: gates.enabled('SELinuxMount'),
    changePolicy: gates.enabled('SELinuxChangePolicy'),
  }
}

export interface SelinuxMountsDeps {
  /** What files of containers have on this machine; undefined without SELinux, and then nothing is labelled. */
  readonly fileContext: string | undefined
  readonly gates: SelinuxGates
  readonly metrics: SelinuxMetrics
  readonly log: Logger
}

/** Another pod with the same volume. */
export interface SelinuxUser {
  readonly choice: SelinuxChoice
  /** It has ended, and its volumes are being taken down. */
  readonly isLeaving: boolean
}

export interface SelinuxRequest {
  readonly desired: DesiredVolume
  readonly plugin: string
  /** Undefined for a kind that is never mounted with a label. */
  readonly identity: SelinuxIdentity | undefined
  /** What was chosen for this pod before. */
  readonly before: SelinuxChoice | undefined
  /** Other pods of this node with the volume of a name. */
  readonly users: (name: string) => readonly SelinuxUser[]
}

/**
 * Decides which volumes are mounted with an SELinux label, so that the runtime need not label each file of them. A volume has one label at a
 * time: a pod that needs another one waits, or cannot start.
 */
export class SelinuxMounts {
  readonly #deps: SelinuxMountsDeps

  constructor(deps: SelinuxMountsDeps) {
    this.#deps = deps
  }

  get isOn(): boolean {
    return this.#deps.fileContext !== undefined && this.#deps.gates.forOnePod
  }

  /** Undefined for a volume that is never mounted with a label; fails for a pod that cannot have it with the label that it needs. */
  choose({ desired, plugin, identity, before, users }: SelinuxRequest): SelinuxChoice | undefined {
    const { fileContext, gates } = this.#deps
    if (fileContext === undefined || !gates.forOnePod) return undefined
    const { pod, name: volumeName, source, specName } = desired
    const isError = isLabelledMode(source, gates)
    const about = { plugin: identity?.plugin ?? plugin, accessMode: accessModeLabel(source), isError }
    const found = computeSelinuxLabel({ pod, volumeName, fileContext, obeysChangePolicy: gates.changePolicy })
    if (found.kind !== 'label') this.#report({ ...about, kind: found.kind }, found.message)
    if (identity?.canLabel !== true) return undefined
    const label = found.kind === 'label' ? found.label : ''
    const choice = { name: identity.name, label, mountLabel: isError ? label : '' }
    const sharing = users(choice.name)
    const other = sharing.find((user) => user.choice.label !== label)
    if (other !== undefined) this.#report({ ...about, kind: 'volume' }, conflictText(other, choice, specName))
    else if (label !== '' && sharing.length === 0 && before?.label !== label)
      this.#deps.metrics.selinuxLabel({ ...about, kind: 'admitted' })
    return choice
  }

  /** Fails where labels matter; elsewhere it is only counted. */
  #report(finding: Parameters<SelinuxMetrics['selinuxLabel']>[0], message: string): void {
    this.#deps.metrics.selinuxLabel(finding)
    if (finding.isError) throw new Error(message)
    this.#deps.log.debug('SELinux labels of a volume differ, which does not matter for its access mode', { message })
  }
}

function conflictText({ choice, isLeaving }: SelinuxUser, { name, label }: SelinuxChoice, specName: string): string {
  return isLeaving
    ? `waiting for unmount of volume "${name}", because it is already mounted to a different pod with a different SELinux label`
    : `conflicting SELinux labels of volume ${specName}: "${choice.label}" and "${label}"`
}
