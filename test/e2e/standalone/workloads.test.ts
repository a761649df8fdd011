import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startLab } from '../lab/start-lab.ts'
import type { Lab } from '../lab/start-lab.ts'

const deckhand = fileURLToPath(new URL('../../../bin/deckhand', import.meta.url))
const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: deckhand.local/busybox:1
        imagePullPolicy: Never
        command: [sleep, "1000"]
`

const POD = `metadata: {labels: {app: NAME}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: main
        image: deckhand.local/busybox:1
        imagePullPolicy: Never
        command: [sleep, "1000"]
`
const OTHERS = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    ${POD.replace('NAME', 'agent')}---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    ${POD.replace('NAME', 'db')}---
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: 0 0 1 1 *
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers:
          - name: main
            image: deckhand.local/busybox:1
            imagePullPolicy: Never
            command: ["true"]
`

async function runOthers(node: WorkloadNode): Promise<void> {
  await node.kubectl('apply', '-f', await node.write('others.yaml', OTHERS))
  await node.kubectl('create', 'job', 'once', '--from=cronjob/tick')
  await node.kubectl('wait', 'job/once', '--for=condition=complete', '--timeout=25s')
  assert.match(await node.kubectl('get', 'job', 'once', '--no-headers'), /^once +Complete +1\/1 /)
  for (const name of ['daemonset/agent', 'statefulset/db']) {
    await node.kubectl('rollout', 'status', name, '--timeout=25s')
    await node.kubectl('rollout', 'restart', name)
    await node.kubectl('rollout', 'status', name, '--timeout=25s')
    assert.match(await node.kubectl('rollout', 'history', name), /\n1 [^\n]*\n2 /)
    await node.kubectl('rollout', 'undo', name)
    await node.kubectl('rollout', 'status', name, '--timeout=25s')
  }
  await node.kubectl('delete', 'daemonset/agent', 'statefulset/db', 'cronjob/tick', '--cascade=foreground')
}

/** A standalone node with its workloads, and kubectl on it. */
class WorkloadNode {
  readonly #lab: Lab
  readonly #state: string
  #starts = 0

  constructor(lab: Lab) {
    this.#lab = lab
    this.#state = `${lab.folder}/state`
  }

  async up(...options: readonly string[]): Promise<void> {
    this.#starts += 1
    const log = `${this.#lab.folder}/up-${this.#starts}.log`
    const argv = [deckhand, 'up', '--state', this.#state, '--cgroup-root', `${this.#lab.cgroupRoot}/node`, ...options]
    await this.#lab.startInside(argv, log)
    for (let tries = 0; !(await readFile(log, 'utf8')).includes('stop all'); tries += 1) {
      assert.ok(tries < 1000, await readFile(log, 'utf8'))
      await sleep(20)
    }
  }

  async down(): Promise<void> {
    const { exitCode, stderr } = await this.#lab.runInside([deckhand, 'down', '--state', this.#state])
    assert.equal(exitCode, 0, stderr)
  }

  async write(name: string, text: string): Promise<string> {
    const path = `${this.#lab.folder}/${name}`
    await this.#lab.runInside(['sh', '-c', 'printf %s "$1" > "$2"', 'sh', text, path])
    return path
  }

  async kubectl(...args: readonly string[]): Promise<string> {
    const { exitCode, stdout, stderr } = await this.tryKubectl(...args)
    assert.equal(exitCode, 0, `kubectl ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  tryKubectl(...args: readonly string[]) {
    const config = `--kubeconfig=${this.#state}/admin.kubeconfig`
    return this.#lab.runInside(['kubectl', config, '--cache-dir', `${this.#lab.folder}/cache`, ...args])
  }
}

describe('workloads of a standalone node', () => {
  test('a Deployment runs, rolls, is undone, scaled and deleted by kubectl', async () => {
    await using lab = await startLab()
    const node = new WorkloadNode(lab)
    await node.up()
    await node.kubectl('apply', '-f', await node.write('web.yaml', DEPLOYMENT))
    await node.kubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    assert.match(await node.kubectl('get', 'deployment', 'web', '--no-headers'), /^web +2\/2 +2 +2 /)
    await node.kubectl('set', 'env', 'deployment/web', 'A=1')
    await node.kubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    assert.match(await node.kubectl('rollout', 'history', 'deployment/web'), /\n1 [^\n]*\n2 /)
    await node.kubectl('rollout', 'undo', 'deployment/web')
    await node.kubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    assert.match(await node.kubectl('rollout', 'history', 'deployment/web'), /\n2 [^\n]*\n3 /)
    await node.kubectl('scale', 'deployment/web', '--replicas=3')
    await node.kubectl('wait', 'deployment/web', '--for=condition=Available', '--timeout=25s')
    await node.kubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    assert.match(await node.kubectl('get', 'deployment', 'web', '--no-headers'), /^web +3\/3 +3 +3 /)
    await node.kubectl('delete', 'deployment', 'web', '--wait')
    await node.kubectl('wait', 'pods', '-l', 'app=web', '--for=delete', '--timeout=25s')
    await runOthers(node)
    await node.down()
    await node.up('--without', 'deployments')
    const refused = await node.tryKubectl('create', '-f', await node.write('web.yaml', DEPLOYMENT))
    assert.match(refused.stderr, /this node runs without deployments/)
    await node.down()
  })
})
