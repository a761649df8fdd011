import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { TestNode } from '../e2e/support/test-node.ts'
import { startLab } from '../e2e/lab/start-lab.ts'

// Where Debian has the plugins.
const PLUGINS = '/usr/lib/cni'
const NETWORK = 'pods'

// The plugin bridge, whose first attachment is late: it ends three seconds after it began, or two after the sandbox, whose namespace it holds until then.
const DELAYING_BRIDGE = `#!/bin/sh
config=$(cat)
run_plugin() { echo "$config" | PLUGINS/bridge; }
[ "$CNI_COMMAND" = ADD ] && mkdir FOLDER/late 2>/dev/null || { run_plugin; exit; }
exec 9<"$CNI_NETNS"
echo "$CNI_CONTAINERID" >FOLDER/late/begun
for _ in $(seq 30); do
  [ -e "$CNI_NETNS" ] || { sleep 2; break; }
  sleep 0.1
done
export CNI_NETNS=/proc/self/fd/9
run_plugin >FOLDER/late/result
mv FOLDER/late/result FOLDER/late/attached
cat FOLDER/late/attached
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

  /** Starts an agent in place of one that ended, by which Docker gives new pods their network and which has no flag that says where records are. */
  async startWithoutCni(): Promise<void> {
    const flags = [`--cni-bin-dir=${PLUGINS}`]
    this.node.agent = await this.node.lab.startAgent({ flags })
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

  /** Has the next attachment by the bridge plugin be late. Gives the files that show that it has begun, with the id of the sandbox, and that it is done. */
  async delayNextAttachment(): Promise<{ readonly begun: string; readonly attached: string }> {
    const folder = `${this.#folder}/plugins`
    const text = DELAYING_BRIDGE.replaceAll('FOLDER', folder).replaceAll('PLUGINS', PLUGINS)
    await writeFile(`${folder}/bridge`, text, { mode: 0o755 })
    return { begun: `${folder}/late/begun`, attached: `${folder}/late/attached` }
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
