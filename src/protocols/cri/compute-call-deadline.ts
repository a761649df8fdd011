import type { CriMethod, CriRequest } from './cri-methods.ts'

type DeadlineRule<M extends CriMethod> = (request: CriRequest<M>, requestTimeoutMs: number) => number | 'none'

// What is not listed has the plain request timeout.
const rules: { readonly [M in CriMethod]?: DeadlineRule<M> } = {
  // Pulls the pause image and sets up the network.
  runPodSandbox: (_, requestTimeoutMs) => 2 * requestTimeoutMs,
  // The runtime may use the whole grace period before it kills.
  stopContainer: ({ timeout }, requestTimeoutMs) => requestTimeoutMs + Math.max(0, toMs(timeout)),
  execSync: ({ timeout }, requestTimeoutMs) => (timeout <= 0n ? 'none' : requestTimeoutMs + toMs(timeout)),
  checkpointContainer: ({ timeout }, requestTimeoutMs) => Math.max(requestTimeoutMs, toMs(timeout)),
  // As long as the image is large; ends with the signal of the pod that waits for it.
  pullImage: () => 'none',
  getContainerEvents: () => 'none',
}

function toMs(seconds: bigint): number {
  return Number(seconds) * 1000
}

/** How long a call may take in all. */
export function computeCallDeadline<M extends CriMethod>(
  method: M,
  request: CriRequest<M>,
  requestTimeoutMs: number,
): number | 'none' {
  const rule = rules[method]
  return rule === undefined ? requestTimeoutMs : rule(request, requestTimeoutMs)
}
