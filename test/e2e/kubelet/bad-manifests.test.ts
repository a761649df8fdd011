import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, symlink, writeFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lab } from '../lab/start-lab.ts'
import { testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const LARGEST_GROWTH_MIB = 64
const LONGEST_ANSWER_MS = 1000
// Several rereads of every file.
const ROUNDS_MS = 3000

// Root may read every file of a disk, but this one is for writing only.
const CLOSED_TO_ROOT = '/proc/sys/net/ipv4/route/flush'

const billionLaughs = [
  'a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]',
  ...Array.from({ length: 12 }, (_, index) => `a${index + 1}: &a${index + 1} [${`*a${index}, `.repeat(9)}*a${index}]`),
].join('\n')

/** What is in the files; each is named in one line of the log. */
const files: Readonly<Record<string, string | Buffer>> = {
  'empty.yaml': '',
  'binary.yaml': randomBytes(4096),
  'large.yaml': Buffer.alloc(50 * 2 ** 20, 'a'),
  'laughs.yaml': billionLaughs,
  'deep.json': '['.repeat(1_000_000),
  'half.json': JSON.stringify(testPod('half')).slice(0, 100),
  'kind.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n',
  'types.yaml': JSON.stringify({ ...testPod('types'), spec: { containers: 'none' } }),
  'rules.yaml': JSON.stringify(testPod('Not_A_Name')),
  'fields.yaml': JSON.stringify({ ...testPod('fields'), colour: 'red' }),
}

/** What is no file with content. */
async function putOddities(lab: Lab): Promise<readonly string[]> {
  const { folder } = lab.manifests
  await lab.runInside(['mkfifo', `${folder}/fifo.yaml`])
  await mkdir(`${folder}/folder.yaml`)
  await symlink('loop.yaml', `${folder}/loop.yaml`)
  await symlink('nowhere.yaml', `${folder}/dangling.yaml`)
  await symlink(CLOSED_TO_ROOT, `${folder}/closed.yaml`)
  return ['fifo.yaml', 'folder.yaml', 'loop.yaml', 'dangling.yaml', 'closed.yaml']
}

test('invalid manifests harm no pod, and each is named once', async () => {
  await using node = await TestNode.start({
    config: { fileCheckFrequency: '1s' },
  })
  const { manifests, network } = node.lab
  await manifests.write('good', testPod('good'))
  const good = await node.ready('good')
  const before = await residentMib(node)

  const watching = new AbortController()
  let slowest = 0
  const watch = (async () => {
    while (!watching.signal.aborted) {
      const startedAt = performance.now()
      assert.equal((await network.get('http://127.0.0.1:10248/healthz')).body, 'ok')
      slowest = Math.max(slowest, performance.now() - startedAt)
      await sleep(20)
    }
  })()
  watch.catch(() => {})
  for (const [name, content] of Object.entries(files)) {
    // Moved in, because each part of a large file would count as a change.
    await writeFile(`${node.lab.folder}/${name}`, content)
    await rename(`${node.lab.folder}/${name}`, `${manifests.folder}/${name}`)
  }
  const names = [...Object.keys(files), ...(await putOddities(node.lab))]
  await manifests.write('twin-a.json', testPod('twin'))
  await manifests.write('twin-b.json', testPod('twin', { hostname: 'other' }))
  for (const name of names) await node.logged(`/${name}"`)
  await manifests.write('late', testPod('late'))
  for (const name of ['late', 'twin', 'fields']) await node.ready(name)
  await sleep(ROUNDS_MS)
  watching.abort()
  await watch

  const log = await node.agent.log()
  const lines = names.map((name) => [name, log.filter((line) => line.includes(`/${name}"`)).length])
  assert.deepEqual(
    lines,
    names.map((name) => [name, 1]),
  )
  assert.equal(log.filter((line) => line.includes('two manifests have a pod of the same name')).length, 1)
  const pods = (await node.agent.pods()).map(({ metadata }) => metadata.name).toSorted()
  assert.deepEqual(pods, ['fields-lab', 'good-lab', 'late-lab', 'twin-lab'])
  assert.equal((await node.ready('good')).metadata.uid, good.metadata.uid)
  assert.deepEqual([await node.starts('good'), await node.starts('twin')], [1, 1])
  assert.ok(slowest < LONGEST_ANSWER_MS, `healthz took ${slowest} ms`)
  const growth = (await residentMib(node)) - before
  assert.ok(growth < LARGEST_GROWTH_MIB, `${growth} MiB more`)
})

async function residentMib(node: TestNode): Promise<number> {
  const status = await readFile(`/proc/${node.agent.pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}
