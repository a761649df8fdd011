import process from 'node:process'
import { systemClock } from '../../../base/async/clock.ts'
import type { TaskGroup } from '../../../base/async/task-group.ts'
import { KUBERNETES_VERSION } from '../../../model/config/flags/version-flag.ts'
import { hostConfigFiles } from '../../../system/files/host-config-files.ts'
import { isProgram } from '../../../system/files/is-program.ts'
import { runProcess } from '../../../system/processes/run-process.ts'
import type { KubeClient } from '../../../protocols/kube-api/kube-client.ts'
import type { UpgradeTransport } from '../../../protocols/kube-api/transport/transport.ts'
import { silentLogger } from '../../../base/telemetry/silent-logger.ts'

/** A client of the API for a command of ours, as the kubeconfig file says. Connections end with the tasks. */
export async function openClient(random: () => number, kubeconfig: string, tasks: TaskGroup): Promise<KubeClient> {
  return (await openConnection(random, kubeconfig, tasks)).client
}

/** The client, and the connections that it uses; to another server than that of the file where one is given. */
export async function openConnection(
  random: () => number,
  kubeconfig: string,
  tasks: TaskGroup,
  server?: URL,
): Promise<{ readonly client: KubeClient; readonly transport: UpgradeTransport }> {
  // Loaded only here: most commands need none.
  const { createKubeClient } = await import('../../../protocols/kube-api/create-kube-client.ts')
  const { createClusterTransport } = await import('../../../protocols/kube-api/kubeconfig/create-cluster-transport.ts')
  const { loadUsableKubeconfig } = await import('../../../protocols/kube-api/kubeconfig/load-kubeconfig.ts')
  const config = await loadUsableKubeconfig({ files: hostConfigFiles, environment: process.env, isProgram }, kubeconfig)
  const transport = createClusterTransport({
    config: server === undefined ? config : { ...config, server },
    files: hostConfigFiles,
    run: (request, signal) => runProcess(systemClock, request, signal),
    environment: process.env,
    tasks,
    clock: systemClock,
    log: silentLogger,
  })
  const client = createKubeClient({
    transport,
    qps: -1,
    burst: 0,
    userAgent: `deckhand/${KUBERNETES_VERSION}`,
    metrics: { request() {}, waited() {}, sized() {} },
    clock: systemClock,
    random,
    log: silentLogger,
  })
  return { client, transport }
}
