import type { TestContext } from 'node:test'
import { systemClock } from '../../../src/base/async/clock.ts'
import { openLogDirectory } from '../../../src/system/directories/logs/log-directory.ts'
import { makeFolder } from '../../../src/system/files/state/durable-file.ts'
import { createContainerLogsRoute } from '../../../src/serving/endpoints/logs/container-logs-route.ts'
import { createStreamRoutes } from '../../../src/serving/endpoints/streams/stream-routes.ts'
import { silentLogger } from '../../../src/base/telemetry/silent-logger.ts'
import { dialStreamServer } from '../../../src/serving/http/stream-server.ts'
import { serveUpgradableRoutes } from '../../fakes/serve-upgradable-routes.ts'
import type { TestNode } from './test-node.ts'

/** The endpoints that reach into containers, on a port of their own, with the pods that the node has now. */
export async function serveStreams(t: TestContext, node: TestNode): Promise<{ readonly port: number }> {
  const pods = await node.agent.pods()
  const common = {
    views: () => pods.map((pod) => ({ pod, status: pod.status ?? {} })),
    calls: node.runtime,
    clock: systemClock,
    log: silentLogger,
  }
  const logs = createContainerLogsRoute({
    ...common,
    openDirectory: openLogDirectory,
    podLogsDirectory: node.podLogs,
    splitStreams: true,
  })
  const streams = createStreamRoutes({
    ...common,
    webSockets: true,
    checkpoints: {
      checkpointsDirectory: `${node.lab.folder}/checkpoints`,
      makeDirectory: (path: string) => makeFolder(path, 0o700),
    },
    idleMs: 60_000,
    // Streams of Docker come from the client, which is in this process.
    dial:
      node.lab.runtime.name === 'docker'
        ? dialStreamServer
        : async ({ host, port }) => node.lab.network.connect(host, port),
  })
  return await serveUpgradableRoutes(t, [logs, ...streams])
}
