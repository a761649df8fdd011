import assert from 'node:assert/strict'
import { testContainer, testPod } from '../e2e/support/test-pod.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import type { NodeAgent } from './support/node-agent.ts'
import type { VmSuite, VmWorld } from './support/vm-suite.ts'

const CRITICAL = 2_000_001_000
// Its last words are on the disk when it ends.
const slow = (seconds: number) =>
  `trap 'echo term $EPOCHREALTIME; sleep ${seconds}; echo ended $EPOCHREALTIME; exit 0' TERM; echo started; while :; do sleep 1000 & wait $!; done`

const settings = {
  shutdownGracePeriod: '240s',
  shutdownGracePeriodCriticalPods: '90s',
}

const one = (name: string, priority: number, seconds: number) =>
  testPod(name, {
    priority,
    terminationGracePeriodSeconds: 60,
    containers: [testContainer('main', slow(seconds))],
  })

// Eight seconds are longer than logind's own five.
const pods = [one('usual', 0, 8), one('critical', CRITICAL, 1)]
const names = pods.map(({ metadata }) => metadata.name)

/** The seconds at which a pod's last container said so, in the newest log that has it. */
async function saidAt(agent: NodeAgent, name: string, word: string): Promise<number> {
  const lines = await agent.guest.run(`cat $(ls -tr /var/log/pods/*_${name}-*/*/*.log)`)
  return Number(new RegExp(`.*\\b${word} ([\\d.]+)`, 's').exec(lines)?.[1] ?? NaN)
}

async function begin(agent: NodeAgent): Promise<void> {
  await agent.start(settings)
  await agent.apply(...pods)
  await agent.waitUntilReady(...names)
  await agent.guest.until('systemd-inhibit --list --no-legend --no-pager | grep -i kubelet', PATIENCE_SECONDS)
}

/** Each pod had its time, the critical one after the other, and both are back. */
async function assertEndedInOrder({ agent, machine: { guest } }: VmWorld, since: number): Promise<void> {
  const [term, ended] = [await saidAt(agent, 'usual', 'term'), await saidAt(agent, 'usual', 'ended')]
  const critical = await saidAt(agent, 'critical', 'term')
  assert.ok(term > since, `the usual pod was asked to end: ${term} after ${since}`)
  assert.ok(ended - term >= 8, `and had its time: ${ended - term} s`)
  assert.ok(critical >= ended, `the critical one came after it: ${critical} after ${ended}`)
  assert.ok((await saidAt(agent, 'critical', 'ended')) > critical)
  await agent.waitUntilReady(...names)
  assert.equal(await guest.run('systemctl --failed --no-legend --plain'), '')
}

async function readClock({ machine: { guest } }: VmWorld): Promise<number> {
  return Number(await guest.run('date +%s.%N'))
}

/** What systemd says of a machine that goes down, to the agent, and what its pods get of it. */
export const shutdownSuite: VmSuite = {
  name: 'shutdown',
  checks: [
    {
      name: 'systemctl reboot waits for the pods, the critical ones last; all are back afterwards',
      run: async (world) => {
        const { agent, machine } = world
        await begin(agent)
        const since = await readClock(world)
        const boot = await machine.guest.readBootId()
        await machine.guest.attempt('systemctl reboot', { deadlineMs: 60_000 })
        await machine.waitForBoot(boot)
        await assertEndedInOrder(world, since)
      },
    },
    {
      name: 'systemctl poweroff waits for the pods too',
      run: async (world) => {
        const { agent, machine } = world
        await machine.guest.until('systemd-inhibit --list --no-legend --no-pager | grep -i kubelet', PATIENCE_SECONDS)
        const since = await readClock(world)
        await machine.guest.attempt('systemctl poweroff', { deadlineMs: 60_000 })
        await machine.waitForPowerOff()
        await machine.start()
        await agent.waitUntilReady(...names)
        await assertEndedInOrder(world, since)
      },
    },
    {
      name: 'a shutdown that systemd gives up: pods of manifests run again, and new ones are taken',
      run: async (world) => {
        const { agent, machine } = world
        const { guest } = machine
        await guest.until('systemd-inhibit --list --no-legend --no-pager | grep -i kubelet', PATIENCE_SECONDS)
        const boot = await guest.readBootId()
        await guest.attempt('systemctl poweroff', { deadlineMs: 60_000 })
        // While the agent holds it up. logind finds that it cannot go on, and says so.
        await guest.run('systemctl mask --runtime poweroff.target')
        try {
          await guest.until(`journalctl -u systemd-logind -b --no-pager | grep -iE 'masked|Failed'`, PATIENCE_SECONDS)
          // The log of the pod that ended is gone with it.
          await guest.until(
            `journalctl -u kubelet -b --no-pager | grep 'shutdown of the node is cancelled'`,
            PATIENCE_SECONDS,
          )
          await agent.waitUntilReady(...names)
          await agent.apply(testPod('late'))
          await agent.waitUntilReady('late')
          assert.equal(await guest.readBootId(), boot)
          await guest.until('systemd-inhibit --list --no-legend --no-pager | grep -i kubelet', PATIENCE_SECONDS)
        } finally {
          await guest.run('systemctl unmask --runtime poweroff.target')
        }
      },
    },
  ],
}
