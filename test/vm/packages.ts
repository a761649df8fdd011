import assert from 'node:assert/strict'
import { PAYLOAD } from '../../tools/vm/image-files.ts'
import { testPod } from '../e2e/support/test-pod.ts'
import { PATIENCE_SECONDS } from './support/machine-facts.ts'
import { NotApplicable } from './support/vm-suite.ts'
import type { VmSuite, VmWorld } from './support/vm-suite.ts'

const PACKAGES = `${PAYLOAD}/packages`
const APT = 'DEBIAN_FRONTEND=noninteractive apt-get -o Dpkg::Use-Pty=0 -y -q'
const POD_PROCESS = `pgrep -x -f 'sleep 1000'`
const WRONG = '/etc/kubernetes/kubelet/config.d/20-wrong.conf'
const STATE = 'systemctl is-enabled kubelet; systemctl is-active kubelet'
const MAIN_PID = 'systemctl show -P MainPID kubelet'

// A machine of its own: what the packaged configuration leaves to a cluster is decided here.
const alone = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  authentication: { webhook: { enabled: false }, x509: { clientCAFile: '' } },
  authorization: { mode: 'AlwaysAllow' },
  rotateCertificates: false,
  serverTLSBootstrap: false,
  failSwapOn: false,
}

async function readPodProcess({ machine: { guest } }: VmWorld): Promise<string> {
  const pid = await guest.run(POD_PROCESS)
  assert.match(pid, /^\d+$/)
  return pid
}

/** The Debian packages under systemd as PID 1, with the machine's containerd: what apt does to a node, and what pods notice of it. */
export const packagesSuite: VmSuite = {
  name: 'packages',
  needsPackages: true,
  checks: [
    {
      name: 'apt-get install: the unit is enabled, and waits for pods of its own or a cluster',
      run: async ({ agent, machine: { guest } }) => {
        if ((await guest.attempt(`ls ${PACKAGES}`)).exitCode !== 0)
          throw new NotApplicable('this machine was made without packages')
        await agent.uninstall()
        await guest.run(`${APT} install --no-install-recommends ${PACKAGES}/*.deb`)
        assert.equal(await guest.run(`${STATE} || true`), 'enabled\ninactive')
        // The machine was made without manuals and documents.
        const verify = 'dpkg --verify deckhand deckhand-kubelet | grep -v -e /usr/share/doc/ -e /usr/share/man/ || true'
        assert.equal(await guest.run(verify), '')
        assert.equal(await guest.run('kubelet --version'), 'Kubernetes v1.36.4')
      },
    },
    {
      name: 'with a pod of its own systemctl start runs the agent and the pod',
      run: async (world) => {
        const { agent, machine } = world
        const { guest } = machine
        await guest.write('/etc/kubernetes/kubelet/config.d/10-alone.conf', `${JSON.stringify(alone)}\n`)
        await guest.write('/etc/default/kubelet', 'KUBELET_KUBECONFIG_ARGS=\n')
        // The packaged unit gives the agent a minute, which says nothing under emulation.
        await guest.write('/etc/systemd/system/kubelet.service.d/emulated.conf', '[Service]\nWatchdogSec=900\n')
        await agent.apply(testPod('packaged'))
        await guest.run('systemctl daemon-reload && systemctl start kubelet')
        await agent.waitUntilReady('packaged')
        await readPodProcess(world)
        assert.equal(await guest.run(`readlink /proc/$(${MAIN_PID})/exe`), '/usr/bin/deckhand')
      },
    },
    {
      name: 'what kube-bench looks at: the process with its arguments, owners and modes of its files',
      run: async ({ machine: { guest } }) => {
        const processes = (await guest.run('/bin/ps -fC kubelet')).split('\n').slice(1)
        assert.equal(processes.length, 1)
        assert.match(processes[0] ?? '', / \/usr\/bin\/kubelet --config=\/etc\/kubernetes\/kubelet\/config /)
        const files = '/lib/systemd/system/kubelet.service /etc/kubernetes/kubelet/config'
        assert.equal(await guest.run(`stat -c '%a %U:%G' ${files}`), '600 root:root\n600 root:root')
      },
    },
    {
      name: 'with a wrong setting the service fails and the journal says why; the pod stays, and a right one is taken by itself',
      run: async (world) => {
        const { agent, machine } = world
        const { guest } = machine
        const before = await readPodProcess(world)
        await guest.write(WRONG, `${JSON.stringify({ ...alone, maxPods: 'many' })}\n`)
        await guest.attempt('systemctl restart kubelet')
        await guest.until(`journalctl -u kubelet --no-pager | grep 'maxPods'`, PATIENCE_SECONDS)
        assert.notEqual(await guest.run('systemctl is-active kubelet || true'), 'active')
        await guest.run(`rm ${WRONG}`)
        await guest.until('systemctl is-active kubelet', PATIENCE_SECONDS)
        await agent.waitUntilReady('packaged')
        assert.equal(await readPodProcess(world), before)
      },
    },
    {
      name: 'systemctl restart: the pod stays',
      run: async (world) => {
        const { agent, machine } = world
        const before = await readPodProcess(world)
        await machine.guest.run('systemctl restart kubelet')
        await agent.waitUntilReady('packaged')
        assert.equal(await readPodProcess(world), before)
      },
    },
    {
      name: 'apt-get install of a later version restarts the agent, and the pod stays',
      run: async (world) => {
        const { agent, machine } = world
        const { guest } = machine
        const [before, agentBefore] = [await readPodProcess(world), await guest.run(MAIN_PID)]
        await guest.run(`${APT} install --no-install-recommends ${PACKAGES}/later/*.deb`)
        assert.match(await guest.run("dpkg-query -W -f '${Version}' deckhand"), /^99\./)
        await guest.until('systemctl is-active kubelet', PATIENCE_SECONDS)
        assert.notEqual(await guest.run(MAIN_PID), agentBefore)
        await agent.waitUntilReady('packaged')
        assert.equal(await readPodProcess(world), before)
      },
    },
    {
      name: 'apt-get remove ends the agent and leaves the pod; installed again, it runs and is enabled again',
      run: async (world) => {
        const { agent, machine } = world
        const { guest } = machine
        const before = await readPodProcess(world)
        await guest.run(`${APT} remove deckhand-kubelet deckhand`)
        assert.equal(await guest.run('systemctl is-active kubelet; command -v kubelet || echo none'), 'inactive\nnone')
        assert.equal(await readPodProcess(world), before)
        assert.equal(await guest.run('ls /etc/kubernetes/kubelet/config'), '/etc/kubernetes/kubelet/config')
        // As the package of another kubelet does when it is removed.
        await guest.run('rm -f /etc/systemd/system/multi-user.target.wants/kubelet.service')
        await guest.run(`${APT} install --no-install-recommends ${PACKAGES}/later/*.deb`)
        assert.equal(await guest.run(STATE), 'enabled\nactive')
        await agent.waitUntilReady('packaged')
        assert.equal(await readPodProcess(world), before)
      },
    },
    {
      name: 'apt-get purge takes the agent’s own files, and leaves the pod',
      run: async (world) => {
        const { guest } = world.machine
        const before = await readPodProcess(world)
        await guest.run(`${APT} purge deckhand-kubelet deckhand`)
        assert.equal(await readPodProcess(world), before)
        assert.equal(
          await guest.run('ls -d /etc/kubernetes/kubelet/config /var/lib/kubelet/deckhand 2> /dev/null || echo none'),
          'none',
        )
      },
    },
    {
      name: 'the agent that comes next takes the pod over',
      run: async (world) => {
        const { agent, machine } = world
        const before = await readPodProcess(world)
        await machine.guest.run('rm -rf /etc/default/kubelet /etc/kubernetes/kubelet')
        await agent.install()
        await agent.startBeside()
        await agent.waitUntilReady('packaged')
        assert.equal(await readPodProcess(world), before)
        await agent.clear()
      },
    },
  ],
}
