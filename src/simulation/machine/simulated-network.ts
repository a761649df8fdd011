import type { PodNetwork } from '../../pods/probes/pod-network.ts'

/** Whether something answers at the address of a pod. */
export type IsAnswering = (address: string) => boolean

/** The network of simulated pods: no packet is sent. Pods answer every request when they are ready, and refuse connections before. */
export function createSimulatedNetwork(isAnswering: IsAnswering): PodNetwork {
  const reach = (host: string) => {
    if (!isAnswering(host)) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
  }
  return {
    httpGet: async ({ host }) => {
      reach(host)
      return { status: 200, body: '' }
    },
    dial: async ({ host }) => reach(host),
    checkGrpcHealth: async (_, { host }) =>
      isAnswering(host)
        ? { kind: 'answered', status: 'SERVING' }
        : { kind: 'connect-failed', detail: 'connection refused' },
  }
}
