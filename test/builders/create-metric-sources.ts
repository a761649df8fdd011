import type { MetricsSources } from '../../src/metrics/create-metrics.ts'
import { createPod } from './create-pod.ts'

/** What metrics read, of a node with one pod and one volume. */
export function createMetricSources(change: Partial<MetricsSources> = {}): MetricsSources {
  return {
    version: 'v1.36.4',
    startedAt: 5000,
    loopDelay: { percentile: (percent) => percent / 1000 },
    usage: () => ({ virtualBytes: 3, virtualMaxBytes: 6, openFiles: 4, maxFiles: 5, receivedBytes: 7, sentBytes: 8 }),
    volumes: () => [{ plugin: 'kubernetes.io/empty-dir', desired: 2, actual: 1 }],
    claimUsages: () => [],
    logUsages: () => [{ uid: 'u', namespace: 'shop', pod: 'web', container: 'main', bytes: 7 }],
    resizes: () => ({ pending: new Map([['deferred', 1]]), inProgress: 2 }),
    cpus: () => ({ free: 2, exclusive: 3, exclusiveByNode: new Map([[0, 3]]) }),
    resourceClaims: () => new Map([['<any>', 1]]),
    credentialProvidersHash: 'sha256:0',
    podCertificates: () => [{ signer: 'a.example/s', state: 'fresh' }],
    plugins: () => [{ socketPath: '/plugins/a.sock', isRegistered: true }],
    node: {
      name: 'node-1',
      cgroupVersion: 2,
      gates: () => [
        { name: 'A', stage: 'BETA', enabled: true },
        { name: 'B', stage: '', enabled: false },
      ],
      wanted: () => [{ pod: createPod(), status: { phase: 'Running' } }],
      observed: () => [],
      worked: () => [{ uid: createPod().metadata.uid, state: 'syncing' }],
      certificates: () => ({ client: 20_000, server: undefined }),
      now: () => 12_500,
    },
    ...change,
  }
}
