import assert from 'node:assert/strict'
import { testPod } from '../e2e/support/test-pod.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import type { VmSuite } from './support/vm-suite.ts'

const DECKHAND = '/opt/deckhand/bin/deckhand'
const STATE = '/var/lib/deckhand'
// Only what has exactly these arguments: the shell that runs the command has them in its own.
const processesOfPod = `pgrep -x -f 'sleep 1000' | sort`
// Each call costs seconds of CPU time under emulation.
const isReady = `sleep 5; ${DECKHAND} status | grep -E '^default/installed-machine +yes +Running'`

/** The standalone node as a service: deckhand install, a reboot, deckhand uninstall. */
export const installSuite: VmSuite = {
  name: 'install',
  checks: [
    {
      name: 'deckhand install starts a node, and a pod runs on it',
      run: async ({ machine: { guest }, agent }) => {
        await agent.stop()
        await guest.run('systemctl disable kubelet')
        assert.match(await guest.run(`${DECKHAND} install`), /^The node starts now and at each boot/)
        await guest.until(`${DECKHAND} status | grep -E '^agent +healthy'`, PATIENCE_SECONDS)
        await guest.write(`${STATE}/manifests/pod.yaml`, JSON.stringify(testPod('installed')))
        await guest.until(isReady, PATIENCE_SECONDS)
        assert.equal(await guest.run('systemctl is-enabled deckhand; systemctl is-active deckhand'), 'enabled\nactive')
      },
    },
    {
      name: 'deckhand install again changes nothing',
      run: async ({ machine: { guest } }) => {
        const pid = 'systemctl show -P MainPID deckhand'
        const before = await guest.run(pid)
        await guest.run(`${DECKHAND} install`)
        assert.equal(await guest.run(pid), before)
      },
    },
    {
      name: 'pods survive a restart, a kill -9, a stop and a start of the service',
      run: async ({ machine: { guest } }) => {
        const before = await guest.run(processesOfPod)
        assert.match(before, /^\d+$/)
        await guest.run('systemctl restart deckhand')
        await guest.until(isReady, PATIENCE_SECONDS)
        const pid = await guest.run('systemctl show -P MainPID deckhand')
        await guest.run('systemctl kill -s KILL --kill-whom=main deckhand')
        await guest.until(
          `[ $(systemctl show -P MainPID deckhand) != ${pid} ] && systemctl is-active deckhand`,
          PATIENCE_SECONDS,
        )
        await guest.until(isReady, PATIENCE_SECONDS)
        await guest.run('systemctl stop deckhand && sleep 2 && systemctl start deckhand')
        await guest.until(isReady, PATIENCE_SECONDS)
        assert.equal(await guest.run(processesOfPod), before)
      },
    },
    {
      name: 'after a reboot the node and its pods are back',
      run: async ({ machine }) => {
        const { guest } = machine
        const boot = await guest.readBootId()
        await guest.attempt('systemctl reboot', { deadlineMs: 60_000 })
        await guest.disconnect()
        await machine.waitForBoot(boot)
        await guest.until(isReady, PATIENCE_SECONDS)
        assert.equal(await guest.run('systemctl --failed --no-legend --plain'), '')
      },
    },
    {
      name: 'deckhand uninstall takes the service away and leaves the pods; deckhand down ends them',
      run: async ({ machine: { guest } }) => {
        assert.match(await guest.run(`${DECKHAND} uninstall`), /^The service is gone/)
        assert.equal(
          await guest.run('systemctl is-active deckhand; test -e /etc/systemd/system/deckhand.service || echo none'),
          'inactive\nnone',
        )
        assert.match(await guest.run(processesOfPod), /^\d+$/)
        await guest.run(`${DECKHAND} down`)
        await guest.until(`! pgrep -x -f 'sleep 1000' && ! pgrep -x containerd -u root -a | grep ${STATE}`, 120)
        await guest.run('systemctl enable kubelet')
      },
    },
  ],
}
