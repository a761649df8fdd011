import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApiServer } from '../../component/api-server/start-secured-api.ts'
import { Kubectl } from './kubectl.ts'
import type { RunningKubectl } from './kubectl.ts'

/** The standalone API alone, with the machine's kubectl on it. */
export interface KubectlApi extends AsyncDisposable {
  /** The second part of kubectl's version: Debian's is from 2020 and lacks some commands. */
  readonly minor: number
  /** What it wrote; it must succeed. */
  run(args: readonly string[], input?: string): Promise<string>
  /** What it wrote about an error; it must fail. */
  fail(args: readonly string[], input?: string): Promise<string>
  start(args: readonly string[]): RunningKubectl
}

export async function startKubectlApi(): Promise<KubectlApi> {
  const folder = mkdtempSync(join(tmpdir(), 'deckhand-kubectl-'))
  const api = await startApiServer(folder)
  const kubectl = new Kubectl(join(folder, 'admin.kubeconfig'), folder)
  const run = async (args: readonly string[], input = '') => {
    const { code, stdout, stderr } = await kubectl.run(args, { input })
    assert.equal(code, 0, `kubectl ${args.join(' ')}\n${stdout}${stderr}`)
    return stdout
  }
  const { clientVersion } = JSON.parse(await run(['version', '--client', '-o', 'json'])) as {
    readonly clientVersion: { readonly minor: string }
  }
  return {
    minor: Number.parseInt(clientVersion.minor),
    run,
    async fail(args, input = '') {
      const { code, stdout, stderr } = await kubectl.run(args, { input })
      assert.notEqual(code, 0, `kubectl ${args.join(' ')}\n${stdout}`)
      return stdout + stderr
    },
    start: (args) => kubectl.start(args),
    async [Symbol.asyncDispose]() {
      await api.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
