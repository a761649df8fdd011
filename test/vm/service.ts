import assert from 'node:assert/strict'
import { testPod } from '../e2e/support/test-pod.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import type { NodeAgent } from './support/node-agent.ts'
import type { VmSuite } from './support/vm-suite.ts'

const MAIN_PID = 'systemctl show -P MainPID kubelet'
const WATCHDOG = '/etc/systemd/system/kubelet.service.d/watchdog.conf'
const WORDS = 'spoken on this machine'

// Any caller may ask: what is tested is the journal, not who may read it.
const openLogs = {
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  enableSystemLogHandler: true,
  enableSystemLogQuery: true,
}

async function queryLogs(agent: NodeAgent, query: string): Promise<{ code: string; text: string }> {
  const text = await agent.guest.run(`curl -sk -w '\\n%{http_code}' 'https://127.0.0.1:10250/logs/?${query}'`)
  const at = text.lastIndexOf('\n')
  return { code: text.slice(at + 1), text: text.slice(0, at) }
}

/** The agent as a service: its watchdog, and what others said to the journal. */
export const serviceSuite: VmSuite = {
  name: 'service',
  checks: [
    {
      name: 'an agent that hangs is killed by the watchdog and started again, and its pods do not notice',
      run: async ({ agent, machine: { guest } }) => {
        await agent.start()
        await agent.apply(testPod('watched'))
        await agent.waitUntilReady('watched')
        // Later than that of the suites, by its name.
        await guest.write(WATCHDOG, '[Service]\nWatchdogSec=60\nTimeoutAbortSec=10\n')
        await guest.run('systemctl daemon-reload && systemctl restart kubelet')
        try {
          const [before] = await agent.waitUntilReady('watched')
          const pid = await guest.run(MAIN_PID)
          await guest.run('sleep 90')
          assert.equal(await guest.run(MAIN_PID), pid, 'a healthy agent is left alone')
          await guest.run(`kill -STOP ${pid}`)
          await guest.until(`[ "$(${MAIN_PID})" != ${pid} ] && systemctl is-active kubelet`, PATIENCE_SECONDS)
          assert.match(await guest.run('journalctl -u kubelet -n 200 --no-pager'), /Watchdog timeout \(limit 1min\)/)
          const [after] = await agent.waitUntilReady('watched')
          assert.deepEqual(after?.status?.containerStatuses, before?.status?.containerStatuses)
        } finally {
          await guest.run(`rm ${WATCHDOG} && systemctl daemon-reload && systemctl restart kubelet`)
        }
      },
    },
    {
      name: 'node log query: lines of a service from the journal, the last ones, by pattern and by time',
      run: async ({ agent, machine: { guest } }) => {
        await agent.start(openLogs)
        // It listens some time after the service is ready.
        await guest.until('curl -sk https://127.0.0.1:10250/', PATIENCE_SECONDS)
        await guest.run(`systemd-run --wait --unit=speaker sh -c 'echo first; echo "${WORDS}"; echo last'`)
        await guest.until('journalctl -u speaker --no-pager | grep last', PATIENCE_SECONDS)
        const all = await queryLogs(agent, 'query=speaker')
        assert.equal(all.code, '200')
        assert.match(all.text, new RegExp(`first\n.*${WORDS}\n.*last`))
        const some = await queryLogs(agent, `query=speaker&pattern=${encodeURIComponent(WORDS)}`)
        assert.match(some.text, new RegExp(WORDS))
        assert.doesNotMatch(some.text, /: first|: last/)
        const none = await queryLogs(agent, 'query=speaker&sinceTime=2099-01-01T00:00:00Z')
        assert.doesNotMatch(none.text, new RegExp(WORDS))
        const two = await queryLogs(agent, 'query=kubelet&tailLines=2')
        assert.equal(two.text.trimEnd().split('\n').length, 2)
        const both = await queryLogs(agent, 'query=speaker&query=kubelet')
        assert.match(both.text, new RegExp(WORDS))
        assert.match(both.text, /kubelet/)
      },
    },
    {
      name: 'node log query: lines of this boot, and no path in the place of a service',
      run: async ({ agent }) => {
        assert.equal((await queryLogs(agent, 'query=kubelet&boot=0&tailLines=1')).code, '200')
        assert.equal((await queryLogs(agent, 'query=../kubelet')).code, '406')
      },
    },
  ],
}
