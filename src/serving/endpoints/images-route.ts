import type { Clock } from '../../base/async/clock.ts'
import type { Route } from '../http/route.ts'
import { sendAnswer } from '../http/send-answer.ts'

interface ListedImage {
  readonly id: string
  readonly names: readonly string[]
  readonly sizeBytes: number
  readonly pinned: boolean
  readonly inUse: boolean
  /** Of the monotonic clock. */
  readonly firstSeenAt: number
  readonly lastUsedAt: number | undefined
}

export interface ImagesRouteDeps {
  readonly listImages: (signal: AbortSignal) => Promise<readonly ListedImage[]>
  readonly clock: Clock
}

// However many ask, the runtime is not asked more often.
const FRESH_MS = 2000

/** GET /why/images: all images of the node, since when the agent knows them, and which of them are in use. The runtime is asked only then. */
export function createImagesRoute({ listImages, clock }: ImagesRouteDeps): Route {
  let last: { readonly at: number; readonly images: readonly ListedImage[] } | undefined
  const listFresh = async (signal: AbortSignal) => {
    const at = clock.monotonic()
    if (last === undefined || at - last.at >= FRESH_MS) last = { at, images: await listImages(signal) }
    return last.images
  }
  return {
    path: '/why/images',
    methods: ['GET'],
    async handle({ signal }, response) {
      const known = await listFresh(signal)
      const beginning = clock.now() - clock.monotonic()
      const toTime = (at: number) => Math.round(beginning + at)
      const images = known.map(({ id, names, sizeBytes, pinned, inUse, firstSeenAt, lastUsedAt }) => ({
        id,
        names,
        sizeBytes,
        pinned,
        inUse,
        firstSeenAt: toTime(firstSeenAt),
        ...(lastUsedAt !== undefined && { lastUsedAt: toTime(lastUsedAt) }),
      }))
      sendAnswer(response, { status: 200, type: 'application/json', body: `${JSON.stringify({ images })}\n` })
    },
  }
}
