import type { Clock } from '../../base/async/clock.ts'
import { CriCallError } from './cri-call-error.ts'
import type { CriCalls } from './cri-calls.ts'

export interface MeasuredCall {
  /** As the Go kubelet's metrics call it, such as run_podsandbox. */
  readonly operation: string
  readonly seconds: number
  readonly failed: boolean
  /** It was given up, by its deadline or by the caller; the runtime may be at it still. */
  readonly abandoned: boolean
}

/** The same calls, each reported to `onCall` when it ends. Streams last as long as they like and are left as they are. */
export function measureCalls<T extends CriCalls>(
  calls: T,
  options: { readonly clock: Clock; readonly onCall: (call: MeasuredCall) => void },
): T {
  const measured = Object.entries(calls).map(([name, call]) => [
    name,
    typeof call === 'function' ? measure(name, call, options) : call,
  ])
  return { ...calls, ...Object.fromEntries(measured) }
}

function measure(name: string, call: unknown, { clock, onCall }: Parameters<typeof measureCalls>[1]) {
  const invoke = call as (...args: unknown[]) => unknown
  const operation = toOperation(name)
  return (...args: unknown[]): unknown => {
    const startedAt = clock.monotonic()
    const result = invoke(...args)
    if (!(result instanceof Promise)) return result
    const end = (failed: boolean, abandoned: boolean) =>
      onCall({ operation, seconds: (clock.monotonic() - startedAt) / 1000, failed, abandoned })
    result.then(
      () => end(false, false),
      (error: unknown) => end(true, isGivenUp(error, args)),
    )
    return result
  }
}

function isGivenUp(error: unknown, args: readonly unknown[]): boolean {
  const isLate = error instanceof CriCallError && error.code === 'DeadlineExceeded'
  return isLate || args.some((argument) => argument instanceof AbortSignal && argument.aborted)
}

/** The method's name in snake case, but for what the Go kubelet calls otherwise. */
function toOperation(name: string): string {
  if (name === 'updateContainerResources') return 'update_container'
  return name
    .replace(/PodSandbox/i, (text) => (text.startsWith('P') ? '_podsandbox' : 'podsandbox'))
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
