import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { PAYLOAD } from '../../tools/vm/image-files.ts'
import { testPod } from '../e2e/support/test-pod.ts'
import { KubeadmMachine } from './support/kubeadm-machine.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import { NotApplicable } from './support/vm-suite.ts'
import type { VmSuite, VmWorld } from './support/vm-suite.ts'

const PACKAGES = `${PAYLOAD}/packages`
const MAIN_PROGRAM = 'readlink /proc/$(systemctl show -P MainPID kubelet)/exe'
const page = readFileSync('docs/replace-the-kubelet.md', 'utf8')

const isStatic = testPod('static', {}, { uid: '11111111-1111-4111-8111-111111111111' })
// Under emulation an installation takes minutes, after which the cluster would move the pods elsewhere.
const patient = (name: string) => testPod(name, { tolerations: [{ operator: 'Exists', effect: 'NoExecute' }] })

/** Runs a command of the page, in the folder with the packages. */
async function follow({ machine: { guest } }: VmWorld, command: string): Promise<string> {
  const architecture = await guest.run('dpkg --print-architecture')
  assert.ok(page.includes(`\n${command}`), `the page has no "${command}"`)
  return await guest.run(`cd ${PACKAGES} && ${command.replace('_amd64', `_${architecture}`)}`, {
    deadlineMs: PATIENCE_SECONDS * 1000,
  })
}

/** The page "replace the kubelet of a node, and go back", under systemd and with a real cluster. */
export const replaceSuite: VmSuite = {
  name: 'replace',
  needsPackages: true,
  checks: [
    {
      name: 'the kubelet of kubernetes.io is replaced by ours and comes back as the page says, and no container is restarted',
      run: async (world) => {
        const { agent, machine, say } = world
        const { guest } = machine
        if ((await guest.attempt(`ls ${PACKAGES}`)).exitCode !== 0)
          throw new NotApplicable('this machine was made without packages')
        await agent.uninstall()
        try {
          await using node = await KubeadmMachine.start(guest)
          await replaceAndGoBack(world, node, (text) => say(`          ${text}\n`))
        } finally {
          await agent.install()
        }
      },
    },
  ],
}

async function replaceAndGoBack(world: VmWorld, node: KubeadmMachine, say: (text: string) => void): Promise<void> {
  const { agent, machine } = world
  const { guest } = machine
  const run = (command: string) => follow(world, command)
  // The unit of our package gives the agent a minute, which says nothing under emulation.
  await guest.write('/etc/systemd/system/kubelet.service.d/emulated.conf', '[Service]\nWatchdogSec=900\n')
  await guest.run('systemctl daemon-reload')
  await agent.apply(isStatic)
  await node.addPod(patient('first'))
  await node.waitUntilReady('static-machine')
  assert.match(await run('kubelet --version'), /^Kubernetes v1\.36\./)
  assert.match(await run('systemctl cat kubelet'), /10-kubeadm\.conf/)
  const first = await node.tasks()
  assert.equal(first.size, 4)
  say(`${first.size} containers under the kubelet of kubernetes.io`)

  await run('apt-mark unhold kubelet')
  await run('apt-get install ./deckhand_0.1.0-1_amd64.deb ./deckhand-kubelet_0.1.0-1_all.deb')
  assert.match(await run('systemctl status kubelet'), /Active: active/)
  assert.equal(await guest.run(MAIN_PROGRAM), '/usr/bin/deckhand')
  assert.match(await guest.run('ps -fC kubelet'), /\/usr\/bin\/kubelet .*--config=\/var\/lib\/kubelet\/config\.yaml/)
  assert.equal(
    await guest.run("dpkg-query -W -f '${db:Status-Abbrev}' kubeadm; systemctl is-enabled kubelet"),
    'ii enabled',
  )
  await node.addPod(patient('second'))
  const second = await node.tasks()
  assertKept(first, second)
  say(`${second.size} containers under ours, none of them restarted`)

  await run('apt-get install kubelet=1.36.4-1.1')
  await run('systemctl restart kubelet')
  await run('apt-mark hold kubelet')
  assert.equal(await guest.run(MAIN_PROGRAM), '/usr/bin/kubelet')
  await run('apt-get purge deckhand-kubelet deckhand')
  assert.equal(await guest.run('systemctl is-enabled kubelet; systemctl is-active kubelet'), 'enabled\nactive')
  await node.addPod(patient('third'))
  const third = await node.tasks()
  assertKept(second, third)
  say(`${third.size} containers under the kubelet of kubernetes.io again, none of them restarted`)
  for (const name of ['first', 'second', 'third', 'static-machine']) {
    const { status } = await node.waitUntilReady(name)
    assert.deepEqual(
      status?.containerStatuses?.map(({ restartCount }) => restartCount),
      [0],
    )
  }
}

function assertKept(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): void {
  assert.deepEqual(
    [...before].filter(([id, pid]) => now.get(id) !== pid),
    [],
  )
}
