import assert from 'node:assert/strict'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import type { VmSuite, VmWorld } from './support/vm-suite.ts'

const CHURN = 'churn'
const MANIFESTS = '/etc/kubernetes/manifests'
// On the disk before it ends, so that a second run cannot hide.
const RUNS = '/var/lib/runs'

const steady = ['steady-1', 'steady-2']

const once = testPod('once', {
  restartPolicy: 'OnFailure',
  containers: [
    testContainer('main', 'echo run >> /runs/once; sync', { volumeMounts: [{ name: 'runs', mountPath: '/runs' }] }),
  ],
  volumes: [{ name: 'runs', hostPath: { path: RUNS, type: 'DirectoryOrCreate' } }],
})

const passing = testPod('passing', {
  containers: [
    testContainer('main', scripts.obedient, { volumeMounts: [{ name: 'data', mountPath: '/data' }] }),
    testContainer('side', scripts.obedient),
  ],
  volumes: [{ name: 'data', emptyDir: {} }],
})

/** Pods that come and go on the machine itself, until it ends. */
async function startChurn({ machine: { guest } }: VmWorld): Promise<void> {
  await guest.write('/root/passing.yaml', `${JSON.stringify(passing)}\n`)
  const loop = `n=0; while :; do n=$((n + 1)); slot=$((n % 4)); if [ -e ${MANIFESTS}/passing-$slot.yaml ]; then rm ${MANIFESTS}/passing-$slot.yaml; else sed "s/\\"passing\\"/\\"passing-$slot\\"/" /root/passing.yaml > /root/next && mv /root/next ${MANIFESTS}/passing-$slot.yaml; fi; sleep 3; done`
  await guest.run(`systemd-run --unit=${CHURN} sh -c '${loop.replaceAll("'", String.raw`'\''`)}'`)
}

async function cutAndStart({ machine }: VmWorld): Promise<void> {
  await machine.cutPower()
  await machine.start()
}

/** The pods of manifests run, the finished one has not run again, and nothing else is left on the machine. */
async function assertState(world: VmWorld): Promise<void> {
  const { agent, machine } = world
  const { guest } = machine
  await guest.run(`rm -f ${MANIFESTS}/passing-*`)
  await guest.until('systemctl is-active kubelet && curl -sf localhost:10248/healthz', PATIENCE_SECONDS)
  const pods = await agent.waitUntilReady(...steady)
  const uids = await Promise.all([...steady, 'once'].map(async (name) => (await agent.findPod(name))?.metadata.uid))
  await guest.until(
    `[ "$(ls /var/lib/kubelet/pods | sort)" = "$(printf '%s\\n' ${uids.join(' ')} | sort)" ]`,
    PATIENCE_SECONDS,
  )
  const isGone = `! find /sys/fs/cgroup/kubepods.slice -name '*-pod*.slice' | grep -v -e ${pods
    .map(({ metadata }) => metadata.uid?.replaceAll('-', '_'))
    .join(' -e ')}`
  await guest.until(isGone, PATIENCE_SECONDS)
  await guest.until(`[ "$(ctr -n k8s.io tasks ls | grep -c RUNNING)" = ${2 * steady.length} ]`, PATIENCE_SECONDS)
  assert.equal(await guest.run(`cat ${RUNS}/once`), 'run')
  // What the agent keeps is whole after a power cut: nothing had to be set aside.
  assert.equal(await guest.run(`journalctl -b -u kubelet --no-pager | grep 'set aside' || true`), '')
  assert.equal(await guest.run('systemctl --failed --no-legend --plain'), '')
}

/** The machine loses its power while pods come and go. */
export const powerSuite: VmSuite = {
  name: 'power',
  checks: [
    {
      name: 'pods run, one has ended',
      run: async ({ agent, machine: { guest } }) => {
        await agent.start()
        await guest.run(`rm -rf ${RUNS}`)
        await agent.apply(...steady.map((name) => testPod(name)), once)
        await agent.waitUntilReady(...steady)
        await agent.waitForPod('once', ({ status }) => status?.phase === 'Succeeded', 'at its end')
      },
    },
    {
      name: 'after each power cut during churn the right pods run, the finished one does not, and nothing else is left',
      run: async (world) => {
        for (let cut = 1; cut <= world.powerCuts; cut += 1) {
          await startChurn(world)
          // Another moment each time: while pods are made, while they end.
          await world.machine.guest.run(`sleep ${12 + ((cut * 7) % 20)}`)
          await cutAndStart(world)
          await assertState(world).catch((error: unknown) => {
            throw new Error(`After power cut ${cut} of ${world.powerCuts}: ${String(error)}`, { cause: error })
          })
          world.say(`          power cut ${cut} of ${world.powerCuts}: the state is right\n`)
        }
      },
    },
  ],
}
