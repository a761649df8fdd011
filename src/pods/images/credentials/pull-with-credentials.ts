import { CriCallError } from '../../../protocols/cri/cri-call-error.ts'
import type { CriCalls } from '../../../protocols/cri/cri-calls.ts'
import type { PodSandboxConfig } from '../../../protocols/cri/generated/runtime-v1.ts'
import { StartError } from '../../../model/pod/start-error.ts'
import type { Credential } from './credential.ts'
import type { WantedImage } from '../read-image.ts'
import { toPullFailure } from '../to-pull-failure.ts'

export interface CredentialedPull {
  readonly wanted: WantedImage
  readonly sandbox: PodSandboxConfig
  /** Tried in order; without any the image is pulled without a login. */
  readonly candidates: readonly Credential[]
}

/** Asks the runtime for an image with one login after the other until one works; fails with what all of them met. */
export async function pullWithCredentials(
  calls: Pick<CriCalls, 'pullImage'>,
  { wanted, sandbox, candidates }: CredentialedPull,
  signal: AbortSignal,
): Promise<{ readonly ref: string; readonly credential: Credential | undefined }> {
  const failures: StartError[] = []
  for (const credential of candidates.length === 0 ? [undefined] : candidates) {
    const auth = credential === undefined ? {} : { auth: { ...credential.login } }
    try {
      const { imageRef } = await calls.pullImage({ image: { ...wanted }, sandboxConfig: sandbox, ...auth }, signal)
      return { ref: imageRef, credential }
    } catch (error) {
      if (!(error instanceof CriCallError)) throw error
      failures.push(toPullFailure(wanted.image, error))
    }
  }
  throw joinFailures(failures)
}

/** Several failures as one, in the form that users know; equal ones are said once. */
function joinFailures(failures: readonly StartError[]): StartError {
  const different = [...new Map(failures.map((failure) => [failure.message, failure])).values()]
  const [first] = different
  if (first !== undefined && different.length === 1) return first
  const isOneReason = different.every(({ reason }) => reason === first?.reason)
  const message = `[${different.map((failure) => failure.message).join(', ')}]`
  return new StartError(first !== undefined && isOneReason ? first.reason : 'ErrImagePull', message, {
    cause: new AggregateError(failures),
  })
}
