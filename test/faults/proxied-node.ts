import { TestNode } from '../e2e/support/test-node.ts'
import { testPod } from '../e2e/support/test-pod.ts'
import { startLab } from '../e2e/lab/start-lab.ts'
import { RuntimeProxy } from './runtime-proxy.ts'
import { SteadyPods } from './steady-pods.ts'

/** A node whose agent reaches its runtime through a proxy, with two pods that nothing happens to. */
export class ProxiedNode implements AsyncDisposable {
  readonly node: TestNode
  readonly proxy: RuntimeProxy
  readonly steady: SteadyPods
  readonly #owned: AsyncDisposableStack

  private constructor(node: TestNode, proxy: RuntimeProxy, steady: SteadyPods, owned: AsyncDisposableStack) {
    this.node = node
    this.proxy = proxy
    this.steady = steady
    this.#owned = owned
  }

  static async start(): Promise<ProxiedNode> {
    await using cleanup = new AsyncDisposableStack()
    const lab = cleanup.use(await startLab())
    const proxy = await RuntimeProxy.start(`${lab.folder}/proxy.sock`, lab.containerd.socket)
    const options = { config: { containerRuntimeEndpoint: proxy.endpoint } }
    const agent = await lab.startAgent(options)
    const node = cleanup.use(new TestNode(lab, agent, options))
    cleanup.use(proxy)
    await agent.healthy()
    await node.logged('runtime events are streaming')
    const steady = await SteadyPods.start(node, ['steady-one', 'steady-two'])
    return new ProxiedNode(node, proxy, steady, cleanup.move())
  }

  /** Has the agent list everything again, so often. */
  async relist(times = 2): Promise<void> {
    for (let relist = 0; relist < times; relist += 1) {
      const before = this.proxy.count('ListContainers')
      this.proxy.dropConnections()
      await this.node.waitFor('another relist', async () => this.proxy.count('ListContainers') > before)
      // What would follow from it follows at once.
      await this.node.waitFor('its end', async () => await this.steady.areReady())
    }
  }

  /** A pod comes and goes: the agent still does its work. */
  async liveOn(name: string): Promise<void> {
    const { node } = this
    await node.lab.manifests.write(name, testPod(name))
    const pod = await node.ready(name)
    await node.lab.manifests.remove(name)
    await node.gone(pod)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync()
  }
}
