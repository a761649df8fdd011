import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { CoreV1Api, ListWatch, Watch } from '@kubernetes/client-node'
import type { KubeConfig, V1ConfigMap } from '@kubernetes/client-node'

/** What an informer of the official client knows; it starts again when it lost its server, as its authors advise. */
export function followConfigMaps(config: KubeConfig, namespace: string) {
  const core = config.makeApiClient(CoreV1Api)
  const path = `/api/v1/namespaces/${namespace}/configmaps`
  const listAll = () => core.listNamespacedConfigMap({ namespace })
  const lost: unknown[] = []
  const informer = new ListWatch<V1ConfigMap>(path, new Watch(config), listAll, false, undefined, undefined, {
    delayFn: () => setImmediate(),
  })
  let isTerminal = false
  informer.on('error', (error) => {
    lost.push(error)
    if (!isTerminal) void sleep(20).then(() => informer.start())
  })
  return {
    informer,
    lost,
    async stop() {
      isTerminal = true
      await informer.stop()
    },
  }
}
