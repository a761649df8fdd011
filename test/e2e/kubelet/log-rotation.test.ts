import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { testContainer, testPod } from '../support/test-pod.ts'
import { TestNode } from '../support/test-node.ts'

const config = { containerLogMaxSize: '1Ki', containerLogMaxFiles: 3, containerLogMonitorInterval: '3s' }
const script = 'i=0; while :; do i=$((i + 1)); echo line $i; usleep 20000; done'

test('logs are rotated and compressed, and no line is lost', async () => {
  await using node = await TestNode.start({ config })
  await node.lab.manifests.write('talk', testPod('talk', { containers: [testContainer('main', script)] }))
  const { metadata } = await node.ready('talk')
  const folder = `${node.podLogs}/default_talk-lab_${metadata.uid}/main`
  const seen = new Set<string>()
  const readAll = async () => {
    const names = (await readdir(folder)).filter((name) => !name.endsWith('.tmp')).toSorted()
    for (const name of names) seen.add(name)
    // The name of the current log is the shortest, so it comes first; it is the newest.
    const [current = '', ...rotated] = names
    const texts = await Promise.all([...rotated, current].map((name) => readLog(`${folder}/${name}`)))
    return {
      names,
      numbers: [...texts.join('').matchAll(/ stdout F line (\d+)\n/g)].map(([, number]) => Number(number)),
    }
  }
  // While nothing was thrown away, every line since the first is there.
  const full = await node.waitFor('two rotations', async () => {
    const logs = await readAll()
    return (
      logs.names.length === config.containerLogMaxFiles && logs.numbers[0] === 1 && isUnbroken(logs.numbers) && logs
    )
  })
  const [, oldest = '', newest = ''] = full.names
  assert.match(oldest, /^0\.log\.\d{8}-\d{6}\.gz$/)
  assert.match(newest, /^0\.log\.\d{8}-\d{6}$/)
  assert.equal(full.names[0], '0.log')

  const last = full.numbers.at(-1) ?? 0
  const later = await node.waitFor('the oldest to go', async () => {
    const logs = await readAll()
    // In the middle of a rotation there is one file less.
    if (logs.names.length < config.containerLogMaxFiles) return false
    return !logs.names.includes(oldest) && isUnbroken(logs.numbers) && (logs.numbers.at(-1) ?? 0) > last && logs
  })
  assert.equal(later.names.length, config.containerLogMaxFiles)
  assert.ok(seen.has(`${newest}.gz`), 'the one rotated before is compressed')
  assert.equal((await node.ready('talk')).status?.containerStatuses?.[0]?.restartCount, 0)
})

async function readLog(path: string): Promise<string> {
  const bytes = await readFile(path)
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
}

function isUnbroken(numbers: readonly number[]): boolean {
  return numbers.length > 0 && numbers.every((number, index) => number === (numbers[0] ?? 0) + index)
}
