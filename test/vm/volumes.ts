import assert from 'node:assert/strict'
import { scripts, testContainer, testPod } from '../e2e/support/test-pod.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import type { VmSuite } from './support/vm-suite.ts'

const MEBIBYTE = 1024 ** 2

// 8 of the machine's pages, taken and kept.
const pages = testPod('pages', {
  containers: [
    testContainer('main', `fallocate -l 16777216 /pages/taken && echo taken; ${scripts.obedient}`, {
      resources: {
        requests: { cpu: '100m', memory: '32Mi', 'hugepages-2Mi': '32Mi' },
        limits: { cpu: '100m', memory: '32Mi', 'hugepages-2Mi': '32Mi' },
      },
      volumeMounts: [{ name: 'pages', mountPath: '/pages' }],
    }),
  ],
  volumes: [{ name: 'pages', emptyDir: { medium: 'HugePages' } }],
})

const FREE_PAGES = `awk '/HugePages_Free/ { print $2 }' /proc/meminfo`

/** Volumes that need a kernel with huge pages, or a disk that counts by project. */
export const volumesSuite: VmSuite = {
  name: 'volumes',
  checks: [
    {
      name: 'a volume of huge pages takes them from the machine and gives them back',
      run: async ({ agent, machine: { guest } }) => {
        await agent.start()
        const before = Number(await guest.run(FREE_PAGES))
        await agent.apply(pages)
        await agent.waitUntilReady('pages')
        await guest.until('grep -q taken /var/log/pods/*_pages-*/*/*.log', PATIENCE_SECONDS)
        assert.equal(Number(await guest.run(FREE_PAGES)), before - 8)
        const { 'hugetlb.2MB.current': used, 'hugetlb.2MB.max': most } = await agent.readCgroup(
          await agent.podCgroup('pages'),
          ['hugetlb.2MB.current', 'hugetlb.2MB.max'],
        )
        assert.deepEqual([used, most], [String(16 * MEBIBYTE), String(32 * MEBIBYTE)])
        await agent.clear()
        await guest.until(`[ "$(${FREE_PAGES})" = ${before} ]`, PATIENCE_SECONDS)
      },
    },
    {
      name: 'a memory volume is no larger than its limit',
      run: async ({ agent, machine: { guest } }) => {
        const script = `dd if=/dev/zero of=/memory/file bs=1M count=16; stat -c 'size %s' /memory/file; ${scripts.obedient}`
        await agent.apply(
          testPod('memory', {
            containers: [testContainer('main', script, { volumeMounts: [{ name: 'memory', mountPath: '/memory' }] })],
            volumes: [{ name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '8Mi' } }],
          }),
        )
        await agent.waitUntilReady('memory')
        await guest.until(`grep -q 'size ${8 * MEBIBYTE}$' /var/log/pods/*_memory-*/*/*.log`, PATIENCE_SECONDS)
      },
    },
  ],
}
