/** A standalone node with a containerd of its own, of this release and with this OCI runtime. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
import { labOciRuntime } from '../e2e/lab/oci-runtime.ts'
import { startLab } from '../e2e/lab/start-lab.ts'
import { checkSandboxProfile } from '../e2e/support/check-sandbox-profile.ts'
import { UpNode } from '../e2e/support/up-node.ts'

describe('deckhand up on this runtime', () => {
  test('runs the example with the programs of the cell, and goes down', async () => {
    await using lab = await startLab()
    const node = new UpNode(lab)
    const { process, output } = await node.up()
    const url = /curl (http:\S+)/.exec(await output())?.[1]
    assert.ok(url, await output())
    assert.deepEqual(await lab.network.get(url), { status: 200, body: 'Hello from Deckhand\n' })

    await checkSandboxProfile(node.state)
    const { stdout } = await lab.runInside(['containerd', '--version'])
    const release = /\bv?(\d+)\.\d+\.\d+/.exec(stdout)
    const config = await readFile(`${node.state}/containerd/config.toml`, 'utf8')
    assert.match(config, release?.[1] === '1' ? /^version = 2$/m : /^version = 3$/m)
    assert.match(config, new RegExp(`BinaryName = ['"](\\S*/)?${labOciRuntime()}['"]`))

    const down = await node.run('down', '--purge')
    assert.equal(down.exitCode, 0, down.stderr)
    assert.deepEqual(await process.exited, { exitCode: 0, signal: undefined })
    assert.equal(await node.containers(), '')
  })
})
