import type { PodSandboxConfig } from '../../protocols/cri/generated/runtime-v1.ts'
import type { ImageVolumeSource } from '../../model/generated/core-v1.ts'
import { EventRepeats } from '../../model/events/event-repeats.ts'
import { containerFieldPath } from '../../model/pod/pod-containers.ts'
import type { PodContainer } from '../../model/pod/pod-containers.ts'
import type { Pod, PodUid } from '../../model/pod/pod.ts'
import { StartError } from '../../model/pod/start-error.ts'
import type { PodEvent, PodEvents } from '../../model/events/pod-events.ts'
import { computePullDecision, needsPresence } from './compute-pull-decision.ts'
import { formatDuration } from './format-duration.ts'
import type { Credential } from './credentials/credential.ts'
import type { FoundCredentials } from './credentials/image-credentials.ts'
import { ImageNameError, parseImageName, toRepository } from '../../model/pod/parse-image-name.ts'
import { PullBackOffs } from './pull-back-offs.ts'
import { readImage } from './read-image.ts'
import type { WantedImage } from './read-image.ts'
import { SharedPulls } from './shared-pulls.ts'
import type { PulledImage, SharedPullsDeps } from './shared-pulls.ts'

export interface ImagePullerDeps extends SharedPullsDeps {
  readonly events: PodEvents
  readonly credentials: {
    find(pod: Pod, repository: string, signal: AbortSignal): Promise<FoundCredentials>
  }
  readonly access: SharedPullsDeps['access'] & {
    mayUse(
      named: { readonly image: string; readonly ref: string },
      credentials: () => Promise<readonly Credential[]>,
    ): Promise<boolean>
  }
  /** Images belong to the handler of the pods that use them. Parity: the gate RuntimeClassInImageCriApi. */
  readonly byHandler?: boolean
  /** A container is about to be made of this image. */
  readonly onImage: (ref: string) => void
}

/** The image of one container, for the sandbox it will run in. */
export interface ImageRequest {
  readonly pod: Pod
  readonly podContainer: PodContainer
  readonly sandbox: PodSandboxConfig
  /** Empty for the usual one. */
  readonly runtimeHandler?: string
}

/** The image that a volume of the pod is. */
export interface VolumeImageRequest {
  readonly pod: Pod
  readonly volume: { readonly image: ImageVolumeSource }
  readonly sandbox: PodSandboxConfig
  readonly runtimeHandler?: string
  /** It need not be reported that it is still there. */
  readonly quiet: boolean
}

/** An image that is on the node: what to call it in CreateContainer, and the user it names. */
export interface EnsuredImage {
  readonly ref: string
  readonly uid: bigint | undefined
  readonly username: string
}

type Report = (type: PodEvent['type'], reason: string, message: string) => void

/** An image by its name in the spec, and when to pull it. */
interface Desired {
  readonly pod: Pod
  readonly sandbox: PodSandboxConfig
  readonly runtimeHandler: string | undefined
  readonly image: string
  readonly policy: string | undefined
}

/** The way to one image. */
interface Errand {
  readonly pod: Pod
  readonly sandbox: PodSandboxConfig
  readonly wanted: WantedImage
  readonly report: Report
  /** Read when they are needed first. */
  readonly candidates: () => Promise<readonly Credential[]>
}

/** Ensures the images of containers by their pull policy, records events on the pods, and keeps pulls that fail apart in time. */
export class ImagePuller {
  readonly #deps: ImagePullerDeps
  readonly #pulls: SharedPulls
  readonly #backOffs = new PullBackOffs()
  readonly #reportedSecrets = new EventRepeats<PodUid>(new Map())

  constructor(deps: ImagePullerDeps) {
    this.#deps = deps
    this.#pulls = new SharedPulls(deps)
  }

  /** Fails with a StartError that says what users see, or with the signal's reason. */
  async ensure(request: ImageRequest, signal: AbortSignal): Promise<EnsuredImage> {
    const { pod, podContainer, sandbox, runtimeHandler } = request
    const fieldPath = containerFieldPath(podContainer.kind, podContainer.container.name)
    const report: Report = (type, reason, message) =>
      this.#deps.events.record(pod, { type, reason, message, fieldPath })
    const { image = '', imagePullPolicy } = podContainer.container
    try {
      return await this.#ensure({ pod, sandbox, runtimeHandler, image, policy: imagePullPolicy }, report, signal)
    } catch (error) {
      if (error instanceof StartError) report('Warning', 'Failed', `Error: ${error.reason}`)
      throw error
    }
  }

  /** The same for a volume; the container that cannot start without it reports that. */
  async ensureVolume(request: VolumeImageRequest, signal: AbortSignal): Promise<EnsuredImage> {
    const { pod, sandbox, runtimeHandler, volume, quiet } = request
    const { reference = '', pullPolicy } = volume.image
    const report: Report = (type, reason, message) => {
      const isNews = !quiet || reason !== 'Pulled' || pullPolicy === 'Always'
      if (isNews) this.#deps.events.record(pod, { type, reason, message })
    }
    return await this.#ensure({ pod, sandbox, runtimeHandler, image: reference, policy: pullPolicy }, report, signal)
  }

  /** Drops all that is remembered of a pod. To be called when the pod is gone. */
  forget(uid: PodUid): void {
    this.#backOffs.forget(uid)
    this.#reportedSecrets.forget(uid)
  }

  async #ensure(desired: Desired, report: Report, signal: AbortSignal): Promise<EnsuredImage> {
    const image = await this.#decide(desired, report, signal)
    this.#deps.onImage(image.ref)
    return image
  }

  async #decide(desired: Desired, report: Report, signal: AbortSignal): Promise<EnsuredImage> {
    const { policy } = desired
    const errand = this.#toErrand(desired, report, signal)
    const found = needsPresence(policy) ? await this.#inspect(errand, signal) : undefined
    const named = { image: errand.wanted.image, ref: found?.ref ?? '' }
    const isOpen = found !== undefined && (await this.#deps.access.mayUse(named, errand.candidates))
    const decision = computePullDecision(policy, { present: found !== undefined, open: isOpen })
    this.#deps.metrics?.imageEnsured({
      policy: policy ?? '',
      isPresent: needsPresence(policy) ? found !== undefined : undefined,
      isPulled: decision === 'refuse' ? undefined : decision === 'pull',
    })
    switch (decision) {
      case 'use':
        return useFound(errand, found as EnsuredImage)
      case 'refuse':
        throw refuse(errand)
      case 'pull':
        this.#checkBackOff(errand)
        return await this.#pull(errand, signal)
    }
  }

  #toErrand({ pod, image, sandbox, runtimeHandler }: Desired, report: Report, signal: AbortSignal): Errand {
    const wanted = {
      image: toImageName(image, report),
      annotations: pod.metadata.annotations ?? {},
      ...(this.#deps.byHandler === true && { runtimeHandler: runtimeHandler ?? '' }),
    }
    let found: Promise<readonly Credential[]> | undefined
    return {
      pod,
      sandbox,
      wanted,
      report,
      candidates: () => (found ??= this.#findCredentials(pod, wanted.image, signal)),
    }
  }

  async #findCredentials(pod: Pod, image: string, signal: AbortSignal): Promise<readonly Credential[]> {
    const { candidates, missingSecrets } = await this.#deps.credentials.find(pod, toRepository(image), signal)
    this.#reportSecrets(pod, missingSecrets.join(', '))
    return candidates
  }

  async #inspect({ wanted, report }: Errand, signal: AbortSignal): Promise<EnsuredImage | undefined> {
    try {
      const image = await readImage(this.#deps.calls, wanted, signal)
      return image && { ref: image.id, uid: image.uid?.value, username: image.username }
    } catch (error) {
      if (error instanceof StartError) report('Warning', 'InspectFailed', error.message)
      throw error
    }
  }

  #checkBackOff({ pod, wanted, report }: Errand): void {
    const key = { uid: pod.metadata.uid, image: wanted.image }
    const failed = this.#backOffs.find(key, this.#deps.clock.monotonic())
    if (failed === undefined) return
    const message = `Back-off pulling image ${quote(wanted.image)}`
    report('Normal', 'BackOff', message)
    throw new StartError('ImagePullBackOff', `${message}: ${failed.reason}: ${failed.message}`)
  }

  async #pull(errand: Errand, signal: AbortSignal): Promise<EnsuredImage> {
    const { pod, sandbox, wanted, report } = errand
    const { clock } = this.#deps
    const { image } = wanted
    const waitedSince = clock.monotonic()
    report('Normal', 'Pulling', `Pulling image ${quote(image)}`)
    try {
      const candidates = await errand.candidates()
      // Not "Pulling": who measures how long a pull takes counts from that to "Pulled".
      const onProgress = (text: string) => report('Normal', 'PullProgress', text)
      const priority = pod.spec.priority ?? 0
      const pulled = await this.#pulls.pull({ wanted, sandbox, candidates, priority, onProgress }, signal)
      report('Normal', 'Pulled', successText(image, pulled, clock.monotonic() - waitedSince))
      return { ref: pulled.ref, uid: pulled.image.uid?.value, username: pulled.image.username }
    } catch (error) {
      if (error instanceof StartError) {
        report('Warning', 'Failed', `Failed to pull image ${quote(image)}: ${error.message}`)
        this.#backOffs.fail({ uid: pod.metadata.uid, image }, { error, waitedSince }, clock.monotonic())
      }
      throw error
    }
  }

  /** Not fatal: the image may be open, or another login fits. Repeated now and then, as long as the same ones are missing. */
  #reportSecrets(pod: Pod, missing: string): void {
    const { uid } = pod.metadata
    if (missing === '') this.#reportedSecrets.forget(uid)
    if (missing === '' || !this.#reportedSecrets.isDue(uid, missing, this.#deps.clock.monotonic())) return
    const message = `Unable to retrieve some image pull secrets (${missing}); attempting to pull the image may not succeed.`
    this.#deps.events.record(pod, { type: 'Warning', reason: 'FailedToRetrieveImagePullSecret', message })
  }
}

function useFound({ wanted, report }: Errand, found: EnsuredImage): EnsuredImage {
  const message = `Container image ${quote(wanted.image)} already present on machine and can be accessed by the pod`
  report('Normal', 'Pulled', message)
  return found
}

/** The same for an image that is absent and for one that the pod may not use: who may not use an image does not learn that it is there. */
function refuse({ wanted, report }: Errand): StartError {
  const message = `Container image ${quote(wanted.image)} is not present with pull policy of Never`
  report('Warning', 'ErrImageNeverPull', message)
  return new StartError('ErrImageNeverPull', message)
}

/** A pod that came late to a pull counts only the part of it that it waited for. */
function successText(image: string, pulled: PulledImage, waitedMs: number): string {
  const took = formatDuration(Math.min(pulled.pullMs, waitedMs))
  const waited = formatDuration(waitedMs)
  const { size } = pulled.image
  return `Successfully pulled image ${quote(image)} in ${took} (${waited} including waiting). Image size: ${size} bytes.`
}

function toImageName(image: string, report: Report): string {
  try {
    return parseImageName(image)
  } catch (error) {
    if (!(error instanceof ImageNameError)) throw error
    const why = `couldn't parse image name ${quote(image)}: ${error.message}`
    const message = `Failed to apply default image tag ${quote(image)}: ${why}`
    report('Warning', 'InspectFailed', message)
    throw new StartError('InvalidImageName', message, { cause: error })
  }
}

/** Names come from users: whatever is odd in one is escaped. */
function quote(image: string): string {
  return JSON.stringify(image)
}
