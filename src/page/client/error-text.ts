import { toVisible } from './format.ts'

/** What went wrong, for people. A server repeats what it was sent, names of pods and all. */
export function errorText(error: unknown): string {
  return toVisible(error instanceof Error ? error.message || error.constructor.name : String(error))
}
