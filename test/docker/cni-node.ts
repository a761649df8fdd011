import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { TestNode } from '../e2e/support/test-node.ts'
import { startLab } from '../e2e/lab/start-lab.ts'

// Where Debian has the plugins.
const PLUGINS = '/usr/lib/cni'
const NETWORK = 'pods'

// The plugin bridge, whose first attachment is late: worse could not happen to an agent that detaches beside it.
const DELAYING_BRIDGE = `#!/bin/sh
config=$(cat)
run_plugin() { echo "$config" | PLUGINS/bridge; }
until_there() { for _ in $(seq 30); do [ -e "$1" ] && break; sleep 0.1; done; }
case $CNI_COMMAND in
ADD)
  mkdir FOLDER/begun 2>/dev/null || { run_plugin; exit; }
  echo "$CNI_CONTAINERID" >FOLDER/begun/id
  until_there FOLDER/detached
  run_plugin >FOLDER/result
  touch FOLDER/attached
  cat FOLDER/result
  ;;
DEL)
  run_plugin || exit
  [ "$CNI_CONTAINERID" = "$(cat FOLDER/begun/id)" ] || exit 0
  touch FOLDER/detached
  until_there FOLDER/attached
  ;;
*) run_plugin ;;
esac
`

/** An agent on Docker whose pods get their network from the plugins bridge, portmap and bandwidth; both families of addresses. */
export class CniNode implements AsyncDisposable {
  readonly node: TestNode
  readonly #folder: string

  constructor(node: TestNode, folder: string) {
    this.node = node
    this.#folder = folder
  }

  static async start(): Promise<CniNode> {
    await using cleanup = new AsyncDisposableStack()
    const lab = cleanup.use(await startLab('docker'))
    const folder = `${lab.folder}/cni`
    for (const name of ['conf', 'plugins']) await mkdir(`${folder}/${name}`, { recursive: true })
    const flags = [
      '--network-plugin=cni',
      `--cni-conf-dir=${folder}/conf`,
      `--cni-bin-dir=${folder}/plugins,${PLUGINS}`,
      `--cni-cache-dir=${folder}/cache`,
      '--network-plugin-mtu=1400',
    ]
    const agent = await lab.startAgent({ flags })
    await agent.healthy()
    cleanup.move()
    return new CniNode(new TestNode(lab, agent, { flags }), folder)
  }

  /** The network is there from now on. */
  async configure(): Promise<void> {
    const ranges = [[{ subnet: '10.99.0.0/16' }], [{ subnet: 'fd99::/64' }]]
    const ipam = { type: 'host-local', dataDir: `${this.#folder}/leases`, ranges, routes: [{ dst: '0.0.0.0/0' }] }
    const plugins = [
      { type: 'bridge', bridge: 'pods0', isGateway: true, ipMasq: false, hairpinMode: true, ipam },
      { type: 'portmap', capabilities: { portMappings: true }, snat: true },
      { type: 'bandwidth', capabilities: { bandwidth: true } },
    ]
    const text = JSON.stringify({ cniVersion: '0.4.0', name: NETWORK, plugins })
    await writeFile(`${this.#folder}/conf/10-pods.conflist`, text)
  }

  /**
   * Has the next attachment by the bridge plugin take three seconds, or until somebody detaches the same sandbox; who detaches it waits for that. Gives the file that is
   * there as soon as the attachment has begun.
   */
  async delayNextAttachment(): Promise<string> {
    const folder = `${this.#folder}/plugins`
    const text = DELAYING_BRIDGE.replaceAll('FOLDER', folder).replaceAll('PLUGINS', PLUGINS)
    await writeFile(`${folder}/bridge`, text, { mode: 0o755 })
    return `${folder}/begun/id`
  }

  /** The addresses that are given out, with the container that each is for. */
  async leases(): Promise<ReadonlyMap<string, string>> {
    const folder = `${this.#folder}/leases/${NETWORK}`
    const names = (await readdir(folder).catch(() => [])).filter((name) => /^[\da-f]+[.:]/.test(name))
    const owners = names.map(async (name) => {
      const text = await readFile(`${folder}/${name}`, 'utf8').catch(() => '')
      return [name, text.split(/\s/)[0] ?? ''] as const
    })
    return new Map(await Promise.all(owners))
  }

  async records(): Promise<readonly string[]> {
    return await readdir(`${this.#folder}/cache/results`).catch(() => [])
  }

  /** How many devices hang at the bridge. */
  async devices(): Promise<number> {
    const { stdout } = await this.node.lab.runInside(['ip', '-o', 'link', 'show', 'master', 'pods0'])
    return stdout.split('\n').filter((line) => line !== '').length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.node[Symbol.asyncDispose]()
  }
}
