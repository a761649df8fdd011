import assert from 'node:assert/strict'
import { deployment, job, serve, service } from './manifests.ts'
import type { JobNode } from './job-node.ts'
import { runJob } from './run-job.ts'

const READY = { readinessProbe: { httpGet: { port: 8080 }, periodSeconds: 1 } }
const OBJECTS = deployment('db', serve('echo ok'), { container: READY }) + service('db')
const ASK = 'for i in 1 2 3 4 5; do wget -q -T 3 -O - http://db/ && exit 0; sleep 1; done; exit 1'
let runs = 0

/** One that can not become ready: "up --wait" fails and names it. */
async function refuseBroken(node: JobNode): Promise<void> {
  const broken = { readinessProbe: { exec: { command: ['false'] }, periodSeconds: 1 } }
  await node.write('broken/web.yaml', deployment('web', 'exec sleep 1000', { container: broken }))
  await node.deckhand('down')
  await assert.rejects(node.up('--wait=15s', '--apply', `${node.folder}/broken`), /default\/web-\S+.*not ready/is)
  await node.deckhand('down')
}

/** A whole environment that is there when the command returns, tests in it as Jobs, and nothing left at the end. */
runJob('test environments in CI', {
  options: (node) => ['--wait=150s', '--apply', `${node.folder}/environment`],
  prepare: async (node) => void (await node.write('environment/all.yaml', OBJECTS)),
  begin: async (node) => {
    await refuseBroken(node)
    await node.up('--wait=150s', '--apply', `${node.folder}/environment`)
  },
  holds: async (node) => {
    assert.match(await node.kubectl('get', 'pods', '-l', 'app=db', '--no-headers'), /^db-\S+ +1\/1 +Running /)
    runs += 1
    await node.apply(job(`good-${runs}`, ASK) + job(`bad-${runs}`, 'echo broken; exit 3'))
    await node.kubectl('wait', '--for=condition=Complete', `job/good-${runs}`, '--timeout=150s')
    assert.equal(await node.kubectl('logs', `job/good-${runs}`), 'ok\n')
    await node.kubectl('wait', '--for=condition=Failed', `job/bad-${runs}`, '--timeout=150s')
    assert.equal(await node.kubectl('logs', `job/bad-${runs}`), 'broken\n')
  },
})
