import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessResult } from '../../../src/system/processes/run-process.ts'

interface SigningRequests {
  readonly items: readonly {
    readonly metadata: { readonly name: string }
    readonly spec: { readonly signerName: string }
    readonly status?: { readonly conditions?: readonly unknown[] }
  }[]
}

const PAUSE_MS = 1000
const SERVING = 'kubernetes.io/kubelet-serving'

/** Does what a person or a program of the cluster has to: approves certificates that nodes ask for to serve with. Until the signal aborts. */
export async function runApprover(
  kubectl: (args: readonly string[], stdin?: string) => Promise<ProcessResult>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const { exitCode, stdout } = await kubectl(['get', 'csr', '-o', 'json'])
    const items = exitCode === 0 ? (JSON.parse(stdout) as SigningRequests).items : []
    const waiting = items.filter(({ spec, status }) => spec.signerName === SERVING && status?.conditions === undefined)
    if (waiting.length > 0) await kubectl(['certificate', 'approve', ...waiting.map(({ metadata }) => metadata.name)])
    await sleep(PAUSE_MS, undefined, { signal }).catch(() => {})
  }
}
