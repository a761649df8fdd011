import type { Clock } from '../../../base/async/clock.ts'
import type { TaskGroup } from '../../../base/async/task-group.ts'
import type { Settings } from '../../../model/config/load-configuration.ts'
import type { CsiDriverObjects } from '../../../protocols/csi/csi-driver-objects.ts'
import type { CsiDrivers } from '../../../protocols/csi/csi-drivers.ts'
import type { NodeAttachments } from './csi-volume-deps.ts'
import { createBlockDevices } from '../../../system/mounts/block-devices.ts'
import type { CsiFiles } from '../../../system/directories/csi-files.ts'
import { describePath } from '../../../system/files/describe-path.ts'
import { deviceFiles } from '../../../system/directories/device-files.ts'
import type { GuardedFiles } from '../../../system/guarded/guarded-files.ts'
import type { Mounter } from '../../../system/mounts/mounter.ts'
import { podLogName } from '../../../model/pod/pod.ts'
import type { Pod, PodUid } from '../../../model/pod/pod.ts'
import type { PodObjects } from '../../objects/pod-objects.ts'
import type { Logger } from '../../../base/telemetry/logger.ts'
import type { PodEvents } from '../../../model/events/pod-events.ts'
import { CsiKind } from '../kinds/csi.ts'

/** The CSI drivers of this node. */
interface NodeDrivers {
  readonly drivers: CsiDrivers
  readonly objects: CsiDriverObjects
  readonly attachments: NodeAttachments
  /** A driver could attach no more to this node: it is asked again how many volumes the node can have. */
  refreshAllocatable(driver: string, signal: AbortSignal): Promise<void>
}

interface Verdict {
  readonly reason: string
  readonly message: string
  readonly graceSeconds: number
  readonly disruption: undefined
}

export interface CreateCsiKindDeps {
  readonly host: { openMounter(): Mounter; csiFiles(rootDirectory: string): CsiFiles }
  readonly settings: Settings
  /** --root-dir without symbolic links. */
  readonly rootDirectory: string
  readonly csi: NodeDrivers
  readonly guarded: GuardedFiles
  readonly objects: PodObjects
  /** Ends a pod, and resolves when nothing of it runs any more. */
  readonly evict: (uid: PodUid, verdict: Verdict, signal: AbortSignal) => Promise<void>
  /** The node has another list of volumes that are in use. */
  readonly onInUse: (names: readonly string[] | undefined) => void
  readonly metrics: { podRejected(reason: string): void }
  readonly events: PodEvents
  readonly clock: Clock
  readonly log: Logger
}

const LIMIT_EXCEEDED = 'VolumeAttachmentLimitExceeded'

/** The volumes of CSI drivers on this machine. */
export function createCsiKind(deps: CreateCsiKindDeps, group: TaskGroup): CsiKind {
  const { settings, rootDirectory, csi, clock, log } = deps
  const { rootDir } = settings.flags
  return new CsiKind({
    ...deps,
    nodeName: settings.nodeName,
    toDriverPath: (path) => `${rootDir}${path.slice(rootDirectory.length)}`,
    drivers: csi.drivers,
    driverObjects: csi.objects,
    attachments: csi.attachments,
    controllerAttaches: settings.config.enableControllerAttachDetach,
    csiFiles: deps.host.csiFiles(rootDirectory),
    mounter: deps.host.openMounter(),
    devices: createBlockDevices({ clock, log }),
    deviceFiles,
    describePath: (path, signal) => describePath(clock, path, signal),
    onLimitExceeded: createRejection(deps, group),
    group,
  })
}

/** A pod whose volume cannot be attached because the node has as many as it can ends, once; its controller makes another elsewhere. */
function createRejection({ settings, csi, evict, metrics, events, log }: CreateCsiKindDeps, group: TaskGroup) {
  const rejected = new WeakSet<Pod>()
  return (pod: Pod, driver: string, why: string) => {
    if (!settings.gates.enabled('MutableCSINodeAllocatableCount') || rejected.has(pod)) return
    rejected.add(pod)
    const reason = LIMIT_EXCEEDED
    const message = `Node has reached its volume attachment limit, rejecting pod: ${why}`
    events.record(pod, { type: 'Warning', reason, message })
    metrics.podRejected(reason)
    const verdict: Verdict = { reason, message: `Pod was rejected: ${message}`, graceSeconds: 0, disruption: undefined }
    group.run(`rejection of ${podLogName(pod)}`, async (signal) => {
      const report = (problem: string) => (error: unknown) => {
        signal.throwIfAborted()
        log.warn(problem, { pod: podLogName(pod), driver, error })
      }
      await csi.refreshAllocatable(driver, signal).catch(report('cannot ask a CSI driver how many volumes it can have'))
      await evict(pod.metadata.uid, verdict, signal).catch(report('a rejected pod does not end'))
    })
  }
}
