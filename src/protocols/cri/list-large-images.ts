import { CriCallError } from './cri-call-error.ts'
import type { CriCalls } from './cri-calls.ts'
import { isTooLarge } from './list-by-pod.ts'

const WHAT_HELPS =
  'the list of images is larger than a message may be (16 MiB), and the runtime has no streams of lists. Remove unused images with a tool of the runtime that needs no list of CRI, such as "ctr"'

/**
 * The same calls; images are read as a stream where their list is too large to be sent at once. They belong to no pod by which they could be
 * listed in parts, so with a runtime without streams the list fails, and the error says what helps.
 */
export function listLargeImages<T extends CriCalls>(calls: T): T {
  const listImages: CriCalls['listImages'] = async (request, signal) => {
    try {
      return await calls.listImages(request, signal)
    } catch (error) {
      if (!isTooLarge(error)) throw error
      return { images: await readStream(calls, request, signal) }
    }
  }
  return { ...calls, listImages }
}

async function readStream(
  calls: Pick<CriCalls, 'streamImages'>,
  request: Parameters<CriCalls['listImages']>[0],
  signal: AbortSignal,
) {
  try {
    return (await Array.fromAsync(calls.streamImages(request, signal))).flatMap(({ images }) => images)
  } catch (error) {
    if (!(error instanceof CriCallError) || error.code !== 'Unimplemented') throw error
    throw new CriCallError('listImages', 'ResourceExhausted', WHAT_HELPS, { cause: error })
  }
}
