import type { CriCalls } from '../../protocols/cri/cri-calls.ts'
import type { Image } from '../../protocols/cri/generated/runtime-v1.ts'
import { CriCallError } from '../../protocols/cri/cri-call-error.ts'
import { StartError } from '../../model/pod/start-error.ts'
import { runtimeText } from './to-pull-failure.ts'

/** An image as it is asked for: its complete name, and the pod's annotations, which some runtimes read. */
export interface WantedImage {
  readonly image: string
  readonly annotations: Readonly<Record<string, string>>
  /** The handler of the pod, where images belong to one; a runtime may keep an image once for each. */
  readonly runtimeHandler?: string
}

/** Reads an image of the node; fails with the StartError ImageInspectError. */
export async function readImage(
  calls: Pick<CriCalls, 'imageStatus'>,
  wanted: WantedImage,
  signal: AbortSignal,
): Promise<Image | undefined> {
  try {
    return (await calls.imageStatus({ image: { ...wanted } }, signal)).image
  } catch (error) {
    if (!(error instanceof CriCallError)) throw error
    throw inspectError(wanted.image, runtimeText(error), { cause: error })
  }
}

/** An image of which the runtime reports nothing or nonsense. */
export function inspectError(image: string, why: string, options?: ErrorOptions): StartError {
  return new StartError('ImageInspectError', `Failed to inspect image ${JSON.stringify(image)}: ${why}`, options)
}
