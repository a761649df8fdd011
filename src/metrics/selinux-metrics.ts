import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** What is found out of the SELinux labels that volumes are to be mounted with. */
interface SelinuxFinding {
  /**
   * Admitted: it is mounted with a label. Container: the label of a container makes no sense. Pod: containers of a pod have different labels for one volume.
   * Volume: pods have.
   */
  readonly kind: 'admitted' | 'container' | 'pod' | 'volume'
  /** With the driver, for a CSI volume. */
  readonly plugin: string
  /** RWX, ROX, RWO, RWOP or inline. */
  readonly accessMode: string
  /** The pod cannot start; else it would not, if labels were mounted for all access modes. */
  readonly isError: boolean
}

/** What is counted about SELinux labels of volumes. */
export interface SelinuxMetrics {
  selinuxLabel(finding: SelinuxFinding): void
}

const PREFIX = 'volume_manager_selinux'

export function createSelinuxMetrics(set: MetricSet): SelinuxMetrics {
  const byMode = (name: string, help: string) =>
    set.gauge({ name: `${PREFIX}_${name}_total`, help, labels: ['access_mode'] })
  const byPlugin = (name: string, help: string) =>
    set.gauge({ name: `${PREFIX}_${name}_total`, help, labels: ['volume_plugin', 'access_mode'] })
  const admitted = byPlugin('volumes_admitted', 'Volumes that are mounted with an SELinux label.')
  const container = {
    errors: byMode(
      'container_errors',
      'Containers whose SELinux label makes no sense, so that their pod cannot start.',
    ),
    warnings: byMode('container_warnings', 'The same where the label is not needed for mounting.'),
  }
  const pod = {
    errors: byMode(
      'pod_context_mismatch_errors',
      'Pods that cannot start because their containers have different SELinux labels for one volume.',
    ),
    warnings: byMode('pod_context_mismatch_warnings', 'The same where no label is needed for mounting.'),
  }
  const volume = {
    errors: byPlugin(
      'volume_context_mismatch_errors',
      'Pods that cannot start because another pod has the volume with another SELinux label.',
    ),
    warnings: byPlugin('volume_context_mismatch_warnings', 'The same where no label is needed for mounting.'),
  }
  return {
    selinuxLabel({ kind, plugin: volume_plugin, accessMode: access_mode, isError }) {
      const which = isError ? 'errors' : 'warnings'
      if (kind === 'admitted') admitted.inc({ volume_plugin, access_mode })
      else if (kind === 'volume') volume[which].inc({ volume_plugin, access_mode })
      else (kind === 'pod' ? pod : container)[which].inc({ access_mode })
    },
  }
}
