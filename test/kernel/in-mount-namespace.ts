import { spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { test } from 'node:test'

const INSIDE = 'DECKHAND_TEST_MOUNT_NAMESPACE'

/**
 * Runs the tests of a file in a mount namespace of their own: no other process sees their mounts, and the mounts go with the tests. A process
 * inside runs the file once more; outside it is a single test that shows what failed there. Needs root.
 */
export function inMountNamespace(file: string, tests: () => void): void {
  if (process.env[INSIDE] === '1') return tests()
  test('in a mount namespace of its own', async (t) => {
    // What a test runner passes to its files would make the inner one report to the outer.
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    const namespace = ['--pdeathsig', 'KILL', 'unshare', '--mount', '--propagation', 'private']
    const argv = [...namespace, process.execPath, '--test', '--test-timeout=60000', file]
    const child = spawn('/usr/bin/setpriv', argv, {
      env: { ...environment, [INSIDE]: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (said += text))
    const [code] = await once(child, 'close')
    if (code !== 0 || !/(pass|skipped) [1-9]/.test(said))
      throw new Error(`Tests inside failed with exit code ${code}:\n${said}`)
    const skipped = said.split('\n').flatMap((line) => /^\s*﹣.*# (.*)$/.exec(line)?.[1] ?? [])
    if (skipped.length > 0) t.diagnostic(skipped.join('; '))
    if (!/pass [1-9]/.test(said)) t.skip(skipped.join('; '))
  })
}
