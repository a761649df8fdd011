import { systemClock } from '../../../src/base/async/clock.ts'
import { runProcessOrThrow } from '../../../src/system/processes/run-process.ts'

/** Names a copy of the root of a containerd that has the node's images: importing them takes as long as the rest of a lab's start. */
export const IMAGE_STORE = 'DECKHAND_LAB_IMAGES'

/** Copies what a containerd that does not run has on its disk. */
export async function copyImageStore(from: string, to: string): Promise<void> {
  const request = { argv: ['cp', '-a', '--reflink=auto', from, to], deadlineMs: 30_000 }
  await runProcessOrThrow(systemClock, request, new AbortController().signal)
}
