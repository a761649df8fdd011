import assert from 'node:assert/strict'
import { SHOP_HOST, stackFiles } from '../jobs/stack.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import type { VmSuite } from './support/vm-suite.ts'

const DECKHAND = '/opt/deckhand/bin/deckhand'
const FOLDER = '/root/stack'
const PORT = 8480
// Its pods run the machine's kubectl, and the machine has none.
const LEFT_OUT = 'operator.yaml'
/** How many pods run of each workload, by how their names begin. The front has an autoscaler, and under emulation its start looks like load. */
const PODS = {
  'default/db': '1',
  'default/web': '2',
  'default/worker': '1',
  'default/monitor': '1',
  'chart/api': '1',
  'chart/cache': '1',
  'chart/queue': '1',
  'chart/front': '[12]',
}
// Each call costs seconds of CPU time under emulation.
const allReady = `sleep 10; ${DECKHAND} status > /tmp/status; ${Object.entries(PODS)
  .map(([start, count]) => `grep -cE '^${start}-[^ ]* +yes +Running' /tmp/status | grep -qx '${count}'`)
  .join(' && ')} || { cat /tmp/status; false; }`
const askShop = `exec 3<> /dev/tcp/127.0.0.1/${PORT}; printf 'GET / HTTP/1.0\\r\\nHost: ${SHOP_HOST}\\r\\n\\r\\n' >&3; cat <&3`
/** The database adds a line to its volume at each start, and the web application shows them. */
const shopShows = (lines: number) =>
  `bash -c "${askShop}" | tr -d '\\r' | tr '\\n' ' ' | grep -qE 'the shop (secret ?){${lines}}$'`

/** A folder of manifests as people have them, on a node that starts with the machine. */
export const workloadsSuite: VmSuite = {
  name: 'workloads',
  checks: [
    {
      name: 'deckhand install --apply brings all of a folder of manifests to Ready',
      run: async ({ machine: { guest }, agent }) => {
        await agent.stop()
        await guest.run('systemctl disable kubelet')
        for (const [name, text] of Object.entries(stackFiles))
          if (name !== LEFT_OUT) await guest.write(`${FOLDER}/${name}`, text)
        await guest.run(`${DECKHAND} install --apply ${FOLDER} --ingress-http-port ${PORT}`)
        await guest.until(allReady, PATIENCE_SECONDS)
        await guest.until(shopShows(1), PATIENCE_SECONDS)
      },
    },
    {
      name: 'after a reboot all of it is back, with its data, and none is there twice',
      run: async ({ machine }) => {
        const { guest } = machine
        const boot = await guest.readBootId()
        await guest.attempt('systemctl reboot', { deadlineMs: 60_000 })
        await guest.disconnect()
        await machine.waitForBoot(boot)
        await guest.until(allReady, PATIENCE_SECONDS)
        await guest.until(shopShows(2), PATIENCE_SECONDS)
        assert.equal(await guest.run('systemctl --failed --no-legend --plain'), '')
      },
    },
    {
      name: 'deckhand uninstall and down --purge leave nothing of it',
      run: async ({ machine: { guest } }) => {
        await guest.run(`${DECKHAND} uninstall && ${DECKHAND} down --purge`)
        assert.equal(await guest.run('pgrep -x httpd; test -e /var/lib/deckhand || echo none'), 'none')
        await guest.run('systemctl enable kubelet')
      },
    },
  ],
}
