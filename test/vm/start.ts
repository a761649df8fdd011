import assert from 'node:assert/strict'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import type { VmSuite } from './support/vm-suite.ts'

/** The machine is what it is meant to be, and the agent does on it what it does everywhere. */
export const startSuite: VmSuite = {
  name: 'start',
  checks: [
    {
      name: 'the machine has cgroup v2, systemd, two NUMA nodes, swap, huge pages, AppArmor and xfs with project quotas',
      run: async ({ machine: { guest } }) => {
        const read = async (script: string) => await guest.run(script)
        assert.equal(await read('stat -fc %T /sys/fs/cgroup'), 'cgroup2fs')
        assert.equal(await read('cat /proc/1/comm'), 'systemd')
        assert.equal(await read('cat /sys/devices/system/node/online'), '0-1')
        assert.equal(await read('cat /sys/devices/system/node/node*/hugepages/hugepages-2048kB/nr_hugepages'), '32\n32')
        assert.equal(await read('tail -n +2 /proc/swaps | wc -l'), '1')
        assert.equal(await read('cat /sys/module/apparmor/parameters/enabled'), 'Y')
        assert.match(await read('findmnt -no FSTYPE,OPTIONS /var/lib/kubelet'), /^xfs .*prjquota/)
        assert.equal(await read('systemctl --failed --no-legend --plain'), '')
      },
    },
    {
      name: 'systemctl start returns when the agent is ready, and its cgroup tree is slices of systemd',
      run: async ({ machine: { guest }, agent }) => {
        await agent.start()
        assert.equal(await guest.run('systemctl is-active kubelet'), 'active')
        assert.match(await guest.run('systemctl show -p StatusText kubelet; curl -s localhost:10248/healthz'), /ok$/)
        assert.equal(
          await guest.run('systemctl is-active kubepods.slice kubepods-burstable.slice kubepods-besteffort.slice'),
          'active\nactive\nactive',
        )
      },
    },
    {
      name: 'a static pod runs, is ready and has an address',
      run: async ({ agent }) => {
        await agent.apply(testPod('first'))
        const [pod] = await agent.waitUntilReady('first')
        assert.match(pod?.status?.podIP ?? '', /^10\.88\./)
        assert.match(await agent.log('first'), /started/)
      },
    },
    {
      name: 'containers run under the AppArmor profile of the runtime',
      run: async ({ machine: { guest }, agent }) => {
        const cgroup = await agent.containerCgroup('first')
        const profile = await guest.run(`cat /proc/$(head -1 ${cgroup}/cgroup.procs)/attr/current`)
        assert.equal(profile, 'cri-containerd.apparmor.d (enforce)')
      },
    },
    {
      name: 'pods survive a restart, a kill -9, a stop and a start of the service',
      run: async ({ machine: { guest }, agent }) => {
        const [before] = await agent.waitUntilReady('first')
        await guest.run('systemctl restart kubelet')
        await guest.run('systemctl kill -s KILL kubelet')
        await guest.until('systemctl is-active kubelet && curl -sf localhost:10248/healthz', PATIENCE_SECONDS)
        await guest.run('systemctl stop kubelet && sleep 2 && systemctl start kubelet')
        const [after] = await agent.waitUntilReady('first')
        assert.deepEqual(after?.status?.containerStatuses, before?.status?.containerStatuses)
      },
    },
    {
      name: 'a removed pod gets its grace, and nothing of it is left',
      run: async ({ machine: { guest }, agent }) => {
        await agent.apply(testPod('second', { containers: [testContainer('main', scripts.obedient)] }))
        await agent.waitUntilReady('second')
        await agent.remove('first', 'second')
        await agent.clear()
        await guest.until(
          `! ls /var/lib/kubelet/pods | grep . && ! ctr -n k8s.io containers ls -q | grep .`,
          PATIENCE_SECONDS,
        )
        assert.equal(await guest.run('grep -c kubelet /proc/mounts || true'), '1')
      },
    },
  ],
}
