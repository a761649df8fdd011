import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startLab } from '../lab/start-lab.ts'
import { WorkloadNode } from './workload-node.ts'

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

/** Uses four times of what it asks for, and is held there: three of these run for most of the test. */
const BUSY = `apiVersion: apps/v1
kind: Deployment
metadata: {name: busy}
spec:
  selector: {matchLabels: {app: busy}}
  template:
    metadata: {labels: {app: busy}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: main
        image: deckhand.local/busybox:1
        imagePullPolicy: Never
        command: [sh, -c, "while :; do :; done"]
        resources: {requests: {cpu: 5m}, limits: {cpu: 20m}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: busy}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: busy}
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]
`
const BUSY_TRIES = 3
const CONDITIONS = 'jsonpath={range .status.conditions[*]}{.type}={.status} {.reason}: {.message}{"\\n"}{end}'

/** By the agent's own measurements; it takes a turn or two of 15 s, which other tests use. */
async function expectScaledByLoad(node: WorkloadNode): Promise<void> {
  const scaled = ['wait', 'deployment/busy', '--for=jsonpath={.status.readyReplicas}=3', '--timeout=25s']
  for (let tries = 1; (await node.tryKubectl(...scaled)).exitCode !== 0; tries += 1)
    assert.ok(tries < BUSY_TRIES, await node.kubectl('describe', 'hpa', 'busy'))
  assert.match(await node.kubectl('get', 'deployment', 'busy', '--no-headers'), /^busy +3\/3 +3 +3 /)
  const conditions = await node.kubectl('get', 'hpa', 'busy', '-o', CONDITIONS)
  assert.match(conditions, /^AbleToScale=True (SucceededRescale|ReadyForNewScale|ScaleDownStabilized): /m)
  assert.match(
    conditions,
    /^ScalingActive=True ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu resource utilization \(percentage of request\)$/m,
  )
  assert.match(
    conditions,
    /^ScalingLimited=True TooManyReplicas: the desired replica count is more than the maximum replica count$/m,
  )
  assert.match(
    await node.kubectl('events', '--for', 'hpa/busy'),
    / Normal +SuccessfulRescale +HorizontalPodAutoscaler\/busy +New size: 3; reason: cpu resource utilization \(percentage of request\) above target/,
  )
  await node.kubectl('delete', 'hpa/busy', 'deployment/busy')
}

/** Each start adds a line to what the claim holds. */
const STORE = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: store}
spec:
  serviceName: store
  selector: {matchLabels: {app: store}}
  template:
    metadata: {labels: {app: store}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
      - name: main
        image: deckhand.local/busybox:1
        imagePullPolicy: Never
        command: [sh, -c, "echo start >> /data/starts; exec sleep 1000"]
        volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10Mi}}}
`
const STARTS = ['exec', 'store-0', '--', 'cat', '/data/starts']

/** The claim of a set gets a folder of the node, which outlives the pod. */
async function startStore(node: WorkloadNode): Promise<void> {
  assert.match(
    await node.kubectl('get', 'storageclass', '--no-headers'),
    /^standard \(default\) +deckhand.local\/folder +Delete +WaitForFirstConsumer +true /,
  )
  await node.kubectl('apply', '-f', await node.write('store.yaml', STORE))
  await node.kubectl('rollout', 'status', 'statefulset/store', '--timeout=25s')
  await node.kubectl('delete', 'pod', 'store-0')
  await node.kubectl('rollout', 'status', 'statefulset/store', '--timeout=25s')
  await node.kubectl('wait', 'pod/store-0', '--for=condition=Ready', '--timeout=25s')
  assert.equal(await node.kubectl(...STARTS), 'start\nstart\n')
  assert.match(
    await node.kubectl('get', 'pvc', 'data-store-0', '--no-headers'),
    /^data-store-0 +Bound +pvc-\S+ +10Mi +RWO +standard /,
  )
}

/** It outlives the node as well, and goes with the claim. */
async function endStore(node: WorkloadNode): Promise<void> {
  await node.kubectl('rollout', 'status', 'statefulset/store', '--timeout=25s')
  await node.kubectl('wait', 'pod/store-0', '--for=condition=Ready', '--timeout=25s')
  assert.equal(await node.kubectl(...STARTS), 'start\nstart\nstart\n')
  assert.equal((await node.listState('volumes')).length, 1)
  await node.kubectl('delete', 'statefulset/store', '--cascade=foreground')
  await node.kubectl('delete', 'pvc', 'data-store-0', '--timeout=25s')
  await node.kubectl('wait', 'pv', '--all', '--for=delete', '--timeout=25s')
  assert.deepEqual(await node.listState('volumes'), [])
}

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

/** Without our scheduler another one decides where pods run. */
async function placeByHand(node: WorkloadNode): Promise<void> {
  // Its process ignores SIGTERM.
  const overrides = `--overrides=${JSON.stringify({ spec: { terminationGracePeriodSeconds: 1 } })}`
  const image = '--image=deckhand.local/busybox:1'
  await node.kubectl('run', 'placed', image, '--restart=Never', overrides, '--', 'sleep', '1000')
  await sleep(500)
  const decided = 'jsonpath={.spec.nodeName}{.status.conditions}'
  assert.equal(await node.kubectl('get', 'pod', 'placed', '-o', decided), '')
  assert.match((await node.deckhand('why', 'placed')).stdout, /Waits for the scheduler: this node runs without one/)
  const name = await node.kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}')
  const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'placed' }, target: { kind: 'Node', name } }
  const file = await node.write('binding.json', JSON.stringify(binding))
  await node.kubectl('create', '--raw', '/api/v1/namespaces/default/pods/placed/binding', '-f', file)
  await node.kubectl('wait', 'pod/placed', '--for=condition=Ready', '--timeout=25s')
}

/** A pod without a toleration leaves the node. */
async function evictByTaint(node: WorkloadNode): Promise<void> {
  await node.kubectl('taint', 'nodes', '--all', 'example.com/bad:NoExecute')
  await node.kubectl('wait', 'pod/placed', '--for=delete', '--timeout=25s')
  assert.match(
    await node.kubectl('events', '--for', 'pod/placed'),
    / Normal +TaintManagerEviction +Pod\/placed +Marking for deletion Pod default\/placed/,
  )
}

describe('workloads of a standalone node', () => {
  test('a Deployment runs, rolls, is undone, scaled and deleted by kubectl', async () => {
    await using lab = await startLab()
    const node = new WorkloadNode(lab)
    await node.up()
    await node.kubectl('apply', '-f', await node.write('busy.yaml', BUSY))
    await node.kubectl('apply', '-f', await node.write('web.yaml', DEPLOYMENT))
    await node.kubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    assert.match(await node.kubectl('get', 'deployment', 'web', '--no-headers'), /^web +2\/2 +2 +2 /)
    await node.kubectl('set', 'env', 'deployment/web', 'A=1')
    await node.kubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    assert.match(await node.kubectl('rollout', 'history', 'deployment/web'), /\n1 [^\n]*\n2 /)
    await node.kubectl('rollout', 'undo', 'deployment/web')
    await node.kubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    assert.match(await node.kubectl('rollout', 'history', 'deployment/web'), /\n2 [^\n]*\n3 /)
    // A rollout that gets nowhere ends the wait for it with a failure, and goes on once it is undone.
    const deadline = '{"spec":{"progressDeadlineSeconds":2}}'
    await node.kubectl('patch', 'deployment/web', '--patch', deadline)
    await node.kubectl('set', 'image', 'deployment/web', 'main=deckhand.local/none:1')
    const stuck = await node.tryKubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    assert.equal(stuck.exitCode, 1)
    assert.match(stuck.stderr, /deployment "web" exceeded its progress deadline/)
    await node.kubectl('rollout', 'undo', 'deployment/web')
    await node.kubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    await node.kubectl('scale', 'deployment/web', '--replicas=3')
    await node.kubectl('wait', 'deployment/web', '--for=condition=Available', '--timeout=25s')
    await node.kubectl('rollout', 'status', 'deployment/web', '--timeout=25s')
    assert.match(await node.kubectl('get', 'deployment', 'web', '--no-headers'), /^web +3\/3 +3 +3 /)
    await node.kubectl('autoscale', 'deployment/web', '--min=2', '--max=4', '--cpu-percent=50')
    assert.match(await node.kubectl('get', 'hpa', 'web', '--no-headers'), /^web +Deployment\/web +cpu: \S+\/50% +2 +4 /)
    await node.kubectl('delete', 'hpa', 'web')
    await node.kubectl('delete', 'deployment', 'web', '--wait')
    await node.kubectl('wait', 'pods', '-l', 'app=web', '--for=delete', '--timeout=25s')
    await runOthers(node)
    await startStore(node)
    await expectScaledByLoad(node)
    await node.down()
    await node.up('--without', 'deployments,scheduler')
    const refused = await node.tryKubectl('create', '-f', await node.write('web.yaml', DEPLOYMENT))
    assert.match(refused.stderr, /this node runs without deployments/)
    await endStore(node)
    await placeByHand(node)
    await evictByTaint(node)
    await node.down()
  })
})
