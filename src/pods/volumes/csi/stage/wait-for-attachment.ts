import type { CsiDriverTraits } from '../../../../protocols/csi/csi-driver-objects.ts'
import type { SetUpRequest } from '../../volume-kind.ts'
import { VolumeStepError } from '../../volume-step-error.ts'
import type { CsiVolumeDeps } from '../csi-volume-deps.ts'
import { csiAttachmentName, csiVolumeName } from '../csi-names.ts'
import type { CsiVolume } from '../csi-volume.ts'
import { errorText } from '../../../../base/telemetry/error-text.ts'

/** How a volume can be used here now. */
export interface Attached {
  readonly traits: CsiDriverTraits
  /** What the driver's controller has to say to its node service. */
  readonly publishContext: Readonly<Record<string, string>>
}

export interface AttachmentRequest {
  readonly request: SetUpRequest
  readonly volume: CsiVolume
  /** Called before anything is waited for, and whenever that may be another. */
  readonly onTraits: (traits: CsiDriverTraits) => void
  readonly onWaiting: (isWaiting: boolean) => void
}

// The cluster reports what changes; this is for what it does not report, such as why attaching fails.
const CHECK_MS = 10_000

/**
 * Resolves when the volume is attached to this node: the cluster knows that it is in use here, says that it is attached, and its VolumeAttachment
 * says so too. A driver may stop asking for that while it is waited.
 */
export async function waitForAttachment(
  deps: CsiVolumeDeps,
  wanted: AttachmentRequest,
  signal: AbortSignal,
): Promise<Attached> {
  const { driverObjects } = deps
  const { volume, request, onTraits, onWaiting } = wanted
  try {
    for (;;) {
      const traits = await driverObjects.find(volume.driver, signal)
      onTraits(traits)
      if (!traits.attachRequired) return { traits, publishContext: {} }
      const missing = whatIsMissing(deps, volume)
      // Containers that run already have it.
      if (missing === undefined || request.ready !== undefined)
        return { traits, publishContext: await readContext(deps, wanted, signal) }
      onWaiting(true)
      await waitForChange(deps, wanted, { missing, traits }, signal)
    }
  } finally {
    onWaiting(false)
  }
}

/** What the status of this node would have to show. */
function whatIsMissing({ attachments, controllerAttaches }: CsiVolumeDeps, volume: CsiVolume): string | undefined {
  if (!controllerAttaches) {
    const message = 'attaching volumes from the kubelet is not supported (enableControllerAttachDetach is false)'
    throw toError(volume, message)
  }
  const name = csiVolumeName(volume.driver, volume.handle)
  if (!attachments.isInUse(name)) return 'to be reported as in use in the status of this node'
  return attachments.isAttached(name) ? undefined : 'to be attached to this node by the cluster'
}

async function waitForChange(
  deps: CsiVolumeDeps,
  { volume, request }: AttachmentRequest,
  { missing, traits }: { readonly missing: string; readonly traits: CsiDriverTraits },
  signal: AbortSignal,
): Promise<void> {
  const { attachments, driverObjects, onLimitExceeded } = deps
  const found = await driverObjects.findAttachment(volume.driver, volume.handle, signal).catch(() => undefined)
  signal.throwIfAborted()
  if (found?.isExhausted === true && traits.allocatableUpdateSeconds !== undefined)
    onLimitExceeded(request.pod, volume.driver, found.error ?? '')
  // What changed while we asked would not be reported again.
  if (whatIsMissing(deps, volume) !== missing) return
  const why = found?.error === undefined ? '' : `: ${found.error}`
  const wait = () => attachments.changed(CHECK_MS, signal)
  await (request.noteStep?.(`wait for volume "${request.name}" ${missing}${why}`, wait) ?? wait())
}

async function readContext(
  { driverObjects, nodeName }: CsiVolumeDeps,
  { volume, request }: AttachmentRequest,
  signal: AbortSignal,
): Promise<Attached['publishContext']> {
  const { driver, handle } = volume
  const name = csiAttachmentName(volume, nodeName)
  const found = await driverObjects.findAttachment(driver, handle, signal).catch((error: unknown) => {
    signal.throwIfAborted()
    throw toError(volume, `volume ${handle} has GET error for volume attachment ${name}: ${errorText(error)}`, error)
  })
  if (found === undefined) throw toError(volume, `volume ${handle} has no volume attachment ${name}`)
  if (!found.isAttached && request.ready === undefined)
    throw toError(volume, found.error ?? `volume ${handle} is not attached for volume attachment ${name}`)
  return found.metadata
}

function toError({ use }: CsiVolume, message: string, cause?: unknown): VolumeStepError {
  const step = use === 'device' ? 'MapVolume.WaitForAttach failed' : 'MountVolume.WaitForAttach failed'
  return new VolumeStepError(message, { step, outcome: 'untried', cause })
}
