import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { SelinuxMounts } from '../../src/pods/volumes/selinux/selinux-mounts.ts'
import type { SelinuxMountsDeps } from '../../src/pods/volumes/selinux/selinux-mounts.ts'

/** SELinux labels of volumes on a machine that has SELinux, with everything that is counted. */
export function createSelinuxMounts(parts: Partial<SelinuxMountsDeps> = {}) {
  const counted: string[] = []
  const selinux = new SelinuxMounts({
    fileContext: 'system_u:object_r:container_file_t:s0',
    gates: { forOnePod: true, forAll: false, changePolicy: true },
    metrics: {
      selinuxLabel: ({ kind, plugin, accessMode, isError }) =>
        void counted.push(`${kind} ${plugin} ${accessMode}${isError ? '' : ' ignored'}`),
    },
    log: silentLogger,
    ...parts,
  })
  return { selinux, counted }
}
