import type { StatsDeps } from '../stats-deps.ts'

/** The first processes of sandboxes and containers, as the runtime reports them; for those whose cgroup cannot be found by name. */
export class RuntimePids {
  readonly #calls: Pick<StatsDeps['calls'], 'podSandboxStatus' | 'containerStatus'>
  readonly #pids = new Map<string, number | undefined>()

  constructor(calls: Pick<StatsDeps['calls'], 'podSandboxStatus' | 'containerStatus'>) {
    this.#calls = calls
  }

  /** Undefined when the runtime does not report it; it is asked once. */
  async ofSandbox(podSandboxId: string, signal: AbortSignal): Promise<number | undefined> {
    return await this.#ask(podSandboxId, () => this.#calls.podSandboxStatus({ podSandboxId, verbose: true }, signal))
  }

  async ofContainer(containerId: string, signal: AbortSignal): Promise<number | undefined> {
    return await this.#ask(containerId, () => this.#calls.containerStatus({ containerId, verbose: true }, signal))
  }

  keep(ids: ReadonlySet<string>): void {
    for (const id of this.#pids.keys()) if (!ids.has(id)) this.#pids.delete(id)
  }

  get size(): number {
    return this.#pids.size
  }

  async #ask(
    id: string,
    call: () => Promise<{ readonly info: Readonly<Record<string, string>> }>,
  ): Promise<number | undefined> {
    if (this.#pids.has(id)) return this.#pids.get(id)
    const { info } = await call()
    const pid = parsePid(info['info'])
    this.#pids.set(id, pid)
    return pid
  }
}

function parsePid(text: string | undefined): number | undefined {
  try {
    const { pid } = JSON.parse(text ?? '') as { readonly pid?: unknown }
    return typeof pid === 'number' && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}
