import type { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import { StartError } from '../../model/pod/start-error.ts'

/** Gives a pull that the runtime failed the reason and the words that users see. */
export function toPullFailure(image: string, error: CriCallError): StartError {
  const { reason, detail } = error
  const cause = { cause: error }
  switch (reason) {
    case 'RegistryUnavailable':
      return new StartError(
        reason,
        `image pull failed for ${image} because the registry is unavailable${detail.slice(reason.length)}`,
        cause,
      )
    case 'SignatureValidationFailed':
      return new StartError(
        reason,
        `image pull failed for ${image} because the signature validation failed${detail.slice(reason.length)}`,
        cause,
      )
    case 'ImageVolumeMountFailed':
    case undefined:
      return new StartError('ErrImagePull', runtimeText(error), cause)
  }
}

/** The runtime's words as events show them: with gRPC's code, unless that says nothing. */
export function runtimeText({ code, detail }: CriCallError): string {
  if (code === 'Unknown' || code === 'InvalidReply') return detail
  // Go spells this one with a single l, and people search for it.
  return `rpc error: code = ${code === 'Cancelled' ? 'Canceled' : code} desc = ${detail}`
}
