import { startRealPlane } from '../api-server/real-target.ts'
import type { KubePrograms } from '../../control-plane/kube-programs.ts'
import type { ControlledApi } from './run-behaviour.ts'

/**
 * All but those that act on nodes, whose kubelets send no signs of life, and on tokens. Pods get their node from the actor, as they do with our
 * controllers: the schedulers are compared elsewhere.
 */
const CONTROLLERS = ['*', '-node-lifecycle-controller', '-taint-eviction-controller', '-node-ipam-controller']

/** A real kube-controller-manager with its kube-apiserver and etcd. */
export async function startRealControllers(programs: KubePrograms): Promise<ControlledApi> {
  const { plane, folder } = await startRealPlane(programs, CONTROLLERS, {
    // As fast as the machine: its own limits would only make the comparison slow.
    'kube-api-qps': '500',
    'kube-api-burst': '1000',
  })
  return {
    kubeconfig: `${folder}/admin.kubeconfig`,
    // Pods of a Job are counted a second after they have ended.
    quietMs: 2000,
    atOnce: 12,
    [Symbol.asyncDispose]: () => plane.kill(),
  }
}
