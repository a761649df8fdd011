/** One process of a control plane that may be killed at any time: control-plane-child.ts api|controllers FOLDER PORT. */
import { randomUUID } from 'node:crypto'
import process from 'node:process'
import { systemClock } from '../../src/base/async/clock.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'
import { runControllers } from '../../src/controllers/composition/run-controllers.ts'
import { openClient } from '../../src/standalone/node/api/open-client.ts'
import { runNodeScheduler } from '../../src/standalone/node/api/run-node-scheduler.ts'
import { serveApi } from '../../src/standalone/node/api/serve-api.ts'
import { NODE_NAME } from './churn-node.ts'

const [role = '', folder = '', port = ''] = process.argv.slice(2)
const never = new AbortController().signal
const ready = () => process.stdout.write('ready\n')

if (role === 'api')
  await serveApi(
    Math.random,
    {
      folder: `${folder}/api`,
      port: Number(port),
      addresses: [],
      nodeName: NODE_NAME,
      adminKubeconfig: `${folder}/admin`,
      agentKubeconfig: `${folder}/agent`,
      readerKubeconfig: `${folder}/reader`,
      logFile: `${folder}/api.log`,
      agentSocket: `${folder}/agent.sock`,
      serviceRange: '10.96.0.0/12',
      hasServiceAddress: false,
      storageClass: undefined,
      ingressClass: undefined,
      switchedOff: new Map(),
      onError: () => {},
      onReady: ready,
    },
    never,
  )
else {
  await using tasks = new TaskGroup(never)
  const client = await openClient(Math.random, `${folder}/admin`, tasks)
  const deps = { client, nodeName: NODE_NAME, random: Math.random }
  ready()
  await Promise.all([
    runControllers({ ...deps, without: [], clock: systemClock, newUid: randomUUID, log: silentLogger }, never),
    runNodeScheduler({ ...deps, logFile: `${folder}/scheduler.log` }, never),
  ])
}
