import type { CsiCapability, CsiDriver } from '../../../../protocols/csi/csi-drivers.ts'
import type { Token } from '../../../objects/object-api.ts'
import { setVolumeGroup } from '../../mounts/set-volume-group.ts'
import type { SetUpRequest } from '../../volume-kind.ts'
import { VolumeStepError } from '../../volume-step-error.ts'
import { csiErrorText, withVolumeStepErrors, requireDriver } from '../call-driver.ts'
import { computeGroupChange } from './compute-group-change.ts'
import { computePublishContext } from './compute-publish-context.ts'
import type { CsiVolumeDeps } from '../csi-volume-deps.ts'
import { csiAttachmentName } from '../csi-names.ts'
import { filesStaging, mountPath } from '../csi-paths.ts'
import type { CsiVolume } from '../csi-volume.ts'
import { mountAt } from './mount-at.ts'
import { readSecret } from '../read-secret.ts'
import { toCapability } from '../to-capability.ts'
import { formatVolumeData } from '../volume-data.ts'
import type { Attached } from '../stage/wait-for-attachment.ts'
import { toApiTime } from '../../../../model/text/api-time.ts'

export interface PublishRequest {
  readonly request: SetUpRequest
  readonly volume: CsiVolume
  readonly attached: Attached
}

const STEP = { name: 'MountVolume.SetUp failed', call: 'NodePublishVolume' }
const DEFAULT_TOKEN_SECONDS = 3600

/** Has the driver mount a volume for one pod, or update it. */
export async function publishVolume(deps: CsiVolumeDeps, wanted: PublishRequest, signal: AbortSignal): Promise<void> {
  const { volume, request, attached } = wanted
  // What containers may use stays as it is.
  const clear =
    request.ready === undefined && request.isFound !== true ? () => clearPublished(deps, request.path) : undefined
  await withVolumeStepErrors(
    { ...STEP, clear },
    async () => {
      const driver = requireDriver(deps.drivers, volume.driver)
      const can = await driver.capabilities(signal)
      await publish(deps, wanted, { driver, can }, signal)
      const { fsGroupPolicy: policy } = attached.traits
      const group = { fsGroup: request.fsGroup, policy, byDriver: can.has('VOLUME_MOUNT_GROUP') }
      if (computeGroupChange(volume, group)) await giveToGroup(deps, request, signal)
    },
    signal,
  )
}

async function publish(
  deps: CsiVolumeDeps,
  wanted: PublishRequest,
  { driver, can }: { readonly driver: CsiDriver; readonly can: ReadonlySet<CsiCapability> },
  signal: AbortSignal,
): Promise<void> {
  const { volume, request, attached } = wanted
  const { csiFiles, rootDirectory, toDriverPath } = deps
  const context = await gatherContext(deps, wanted, signal)
  const isStaged = volume.lifecycle === 'Persistent' && can.has('STAGE_UNSTAGE_VOLUME')
  const target = {
    volumeId: volume.handle,
    isMigrated: volume.isMigrated,
    stagingPath: isStaged ? toDriverPath(filesStaging(rootDirectory, volume.driver, volume.handle).staging) : undefined,
    targetPath: toDriverPath(mountPath(request.path)),
    capability: toCapability(volume, can, request.fsGroup),
    readOnly: volume.readOnly,
    publishContext: attached.publishContext,
    ...context,
  }
  await csiFiles.makeDirectory(request.path)
  // Before the call: by it the volume is taken away whatever becomes of everything else.
  await csiFiles.writeData(request.path, formatVolumeData(toVolumeData(deps, volume)))
  const call = () => driver.publish(target, signal)
  await (request.noteStep?.(`NodePublishVolume of CSI driver ${volume.driver} for volume "${request.name}"`, call) ??
    call())
}

export async function gatherContext(
  deps: CsiVolumeDeps,
  { volume, request, attached: { traits } }: PublishRequest,
  signal: AbortSignal,
) {
  const secrets = await readSecret(deps, volume.publishSecret, 'NodePublishSecretRef', signal)
  const { name, uid } = request.pod.metadata
  const tokens = new Map<string, { readonly token: string; readonly expirationTimestamp: string }>()
  for (const { audience, expirationSeconds = DEFAULT_TOKEN_SECONDS } of traits.tokenRequests) {
    const audiences = audience === '' ? [] : [audience]
    const spec = { audiences, expirationSeconds, boundObject: { kind: 'Pod', name, uid } } as const
    tokens.set(audience, toTokenField(await deps.objects.token(request.pod, spec, signal)))
  }
  const { podInfoOnMount, tokensInSecrets } = traits
  return computePublishContext({ volume, pod: request.pod, podInfoOnMount, tokens, tokensInSecrets, secrets })
}

/** The time without parts of a second, as API objects have it. */
function toTokenField({ token, expiresAt }: Token): { readonly token: string; readonly expirationTimestamp: string } {
  return { token, expirationTimestamp: toApiTime(expiresAt) }
}

function toVolumeData({ nodeName }: CsiVolumeDeps, volume: CsiVolume) {
  return {
    specVolID: volume.specVolID,
    volumeHandle: volume.handle,
    driverName: volume.driver,
    nodeName,
    volumeLifecycleMode: volume.lifecycle,
    seLinuxMountContext: volume.selinuxLabel === '' ? undefined : volume.selinuxLabel,
    attachmentID: csiAttachmentName(volume, nodeName),
  }
}

async function giveToGroup(deps: CsiVolumeDeps, request: SetUpRequest, signal: AbortSignal): Promise<void> {
  const { pod, fsGroup = 0, fsGroupChangePolicy, path, isFound } = request
  // One that was found is in use, or the agent died on the way: the root, which comes last, shows which.
  const onlyOnRootMismatch = isFound === true || fsGroupChangePolicy === 'OnRootMismatch'
  try {
    await setVolumeGroup(deps, { pod, root: mountPath(path), group: fsGroup, onlyOnRootMismatch }, signal)
  } catch (error) {
    signal.throwIfAborted()
    const message = `applyFSGroup failed: ${csiErrorText(error)}`
    throw new VolumeStepError(message, { step: STEP.name, outcome: 'uncertain', cause: error })
  }
}

/** Removes the agent's own around what the driver does not publish any more. */
export async function clearPublished({ csiFiles, mounter }: CsiVolumeDeps, path: string): Promise<void> {
  const target = mountPath(path)
  if ((await mountAt(mounter, target)) !== undefined)
    throw new Error(`Cannot remove "${target}": the driver has left something mounted there`)
  await csiFiles.removeDirectory(target)
  await csiFiles.removeData(path)
  await csiFiles.removeDirectory(path)
}
