import process from 'node:process'
import { systemClock } from './async/clock.ts'
import type { TaskGroup } from './async/task-group.ts'
import { KUBERNETES_VERSION } from './config/flags/version-flag.ts'
import { hostConfigFiles } from './host/config-files.ts'
import { isProgram } from './host/is-program.ts'
import { runProcess } from './host/run-process.ts'
import type { KubeClient } from './kube-api/kube-client.ts'
import type { Logger } from './telemetry/logger.ts'

const silent: Logger = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, child: () => silent }

/** A client of the API for a command of ours, as the kubeconfig file says. Connections end with the tasks. */
export async function openClient(kubeconfig: string, tasks: TaskGroup): Promise<KubeClient> {
  // Loaded only here: most commands need none.
  const { createKubeClient } = await import('./kube-api/create-kube-client.ts')
  const { createClusterTransport } = await import('./kube-api/kubeconfig/create-cluster-transport.ts')
  const { loadUsableKubeconfig } = await import('./kube-api/kubeconfig/load-kubeconfig.ts')
  const transport = createClusterTransport({
    config: await loadUsableKubeconfig({ files: hostConfigFiles, environment: process.env, isProgram }, kubeconfig),
    files: hostConfigFiles,
    run: (request, signal) => runProcess(systemClock, request, signal),
    environment: process.env,
    tasks,
    clock: systemClock,
    log: silent,
  })
  return createKubeClient({
    transport,
    qps: -1,
    burst: 0,
    userAgent: `deckhand/${KUBERNETES_VERSION}`,
    metrics: { request() {}, waited() {}, sized() {} },
    clock: systemClock,
    random: () => Math.random(),
    log: silent,
  })
}
