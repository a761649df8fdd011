import assert from 'node:assert/strict'
import process from 'node:process'
import type { JobNode } from './job-node.ts'
import { runJob } from './run-job.ts'
import { CHART, renderedChart, SHOP_HOST, stackFiles, widget } from './stack.ts'

const [HTTP, HTTPS] = ['8480', '8443']
const GET = `const [url, host] = process.argv.slice(1)
const request = require(url.split(':')[0]).get(url, { headers: { host }, servername: host, rejectUnauthorized: false }, async (answer) => {
  console.log(answer.statusCode, (await answer.toArray()).join(''))
})
request.on('error', (error) => console.log(error.message))`
const WORKLOADS = ['statefulset/db', 'deployment/web', 'deployment/worker', 'deployment/operator', 'daemonset/monitor']
const CHARTED = ['api', 'cache', 'queue', 'front'].map((name) => `deployment/${name}`)
const CONTAINERS = 'jsonpath={range .items[*]}{.metadata.name} {.status.containerStatuses[*].containerID}{"\\n"}{end}'
/** By the name of the process and what its command line has in it. */
const PROCESSES = [
  ['kubelet', '.'],
  ['containerd', '.'],
  ['node-MainThread', ' up '],
] as const
const KILL_ONE = `for p in /proc/[0-9]*; do
  grep -q "^$1$" $p/comm 2> /dev/null && tr '\\0' ' ' < $p/cmdline | grep -e "$3" | grep -q -e "$2" && kill -KILL "\${p#/proc/}" && echo "\${p#/proc/}"
done; true`
// Of the database, and of what is done at each check.
let [starts, runs] = [0, 0]

const options = (node: JobNode) => {
  return ['--wait=170s', '--apply', `${node.folder}/stack`, '--ingress-http-port', HTTP, '--ingress-https-port', HTTPS]
}

async function shop(node: JobNode): Promise<void> {
  // Each start of the database adds a line; those who started before it saw fewer.
  for (const url of [`http://127.0.0.1:${HTTP}/`, `https://127.0.0.1:${HTTPS}/`]) {
    for (let tries = 0; ; tries += 1) {
      const answer = await node.onMachine(process.execPath, '-e', GET, url, SHOP_HOST)
      if (/^200 the shop(\nsecret)+$/.test(answer.trim())) break
      assert.ok(tries < 40, `${url}: ${answer}`)
    }
  }
  // The agent may just be coming back.
  await node.eventually(['exec', 'db-0', '--', 'cat', '/data/index.html'], new RegExp(`^(secret\\n){${starts}}$`))
}

async function operate(node: JobNode): Promise<void> {
  await node.apply(widget(`w${runs}`, runs))
  for (const [name, size] of [
    ['blue', 3],
    [`w${runs}`, runs],
  ]) {
    await node.eventually(['get', 'configmap', `made-${name}`, '-o', 'jsonpath={.data.size}'], new RegExp(`^${size}$`))
    await node.eventually(['get', 'widget', String(name), '-o', 'jsonpath={.status.phase}'], /^Made$/)
  }
}

async function report(node: JobNode): Promise<void> {
  await node.kubectl('create', 'job', `report-${runs}`, '--from=cronjob/report')
  await node.kubectl('wait', '--for=condition=Complete', `job/report-${runs}`, '--timeout=150s')
  assert.equal(await node.kubectl('logs', `job/report-${runs}`), 'work\n')
}

async function chart(node: JobNode): Promise<void> {
  for (const name of CHARTED) await node.kubectl('-n', CHART, 'rollout', 'status', name, '--timeout=150s')
  await node.kubectl('-n', CHART, 'wait', '--for=condition=Complete', 'job/migrate', '--timeout=150s')
  for (const { kind } of renderedChart() as readonly { readonly kind: string }[])
    assert.match(await node.kubectl('-n', CHART, 'get', kind, '-o', 'name'), /\//)
  const ask = 'wget -q -T 3 -O - http://cache/'
  await node.eventually(['-n', CHART, 'exec', 'deployment/front', '--', 'sh', '-c', ask], /^cache\n$/)
}

async function check(node: JobNode): Promise<void> {
  runs += 1
  await node.rolledOut(...WORKLOADS)
  await shop(node)
  await report(node)
  assert.match(await node.kubectl('logs', 'daemonset/monitor'), /^on lab-machine with [1-9]\d* cpus\n$/)
  await operate(node)
  await chart(node)
}

/** Each by itself: nothing that runs in pods notices. */
async function killEach(node: JobNode): Promise<void> {
  const containers = async () => await node.kubectl('get', 'pods', '-l', 'app in (db,web,worker)', '-o', CONTAINERS)
  const before = await containers()
  for (const [name, argument] of PROCESSES) {
    const killed = await node.onMachine('sh', '-c', KILL_ONE, 'sh', name, argument, node.state)
    assert.match(killed, /^\d+\n$/, name)
    if (name === 'node-MainThread') await node.up(...options(node))
    await node.eventually(['get', 'nodes', '--no-headers'], / Ready /)
    await shop(node)
  }
  assert.equal(await containers(), before)
}

/** What people bring, in one folder: a shop with its database and an Ingress in front, a worker, monitoring, an operator, a chart. */
runJob('a folder of manifests as people have them', {
  options,
  prepare: async (node) => {
    for (const [name, text] of Object.entries(stackFiles)) await node.write(`stack/${name}`, text)
  },
  begin: async (node) => {
    starts = 1
    assert.equal(renderedChart().length, 30)
    await check(node)
    await killEach(node)
    starts = 0
  },
  holds: async (node) => {
    // Once more with each start of the node.
    starts += 1
    await check(node)
  },
})
