import { inspectPath } from '../../system/files/read-bounded-file.ts'
import { createServer } from 'node:net'
import { isProgram } from '../../system/files/is-program.ts'
import { readKernelSetting } from '../../system/machine/kernel-settings.ts'
import { readTextIfPresent } from '../../system/files/files-and-folders.ts'
import { readNodeAddress } from '../../system/machine/read-node-address.ts'
import type { IngressPorts } from '../../controllers/network/ingress/ingress-ports.ts'
import type { NodePorts } from '../arguments/up-options.ts'
import { canConnect } from './runtime/containerd.ts'
import { exitCodes, NodeError } from './node-error.ts'

/** Fails unless we are root: containers, cgroups and mounts are the kernel's. */
export function checkRoot(userId: number | undefined): void {
  if (userId !== 0) throw new NodeError('Cannot run a node: this needs root (try sudo)', exitCodes.unfitMachine)
}

// Program, or a file that stands for several, and the Debian package that has it.
const programs: Readonly<Record<string, string>> = {
  containerd: 'containerd',
  ctr: 'containerd',
  ip: 'iproute2',
  iptables: 'iptables',
  mount: 'mount',
  '/usr/lib/cni/bridge': 'containernetworking-plugins',
  '/bin/busybox': 'busybox-static',
  '/usr/bin/catatonit': 'catatonit',
}

// With cgroup v1, what is left to cgroup v2; elsewhere there is no such file.
const HYBRID_CONTROLLERS = '/sys/fs/cgroup/unified/cgroup.controllers'

/**
 * What runs containers where the user names nothing: crun where it is installed and runs, since it takes half of the CPU time, else runc. Beside a cgroup v1
 * crun refuses to run when cgroup v2 has controllers too.
 */
export async function findOciRuntime(path: string, hybridControllers = HYBRID_CONTROLLERS): Promise<string> {
  const isHybrid = ((await readTextIfPresent(hybridControllers)) ?? '').trim() !== ''
  for (const name of isHybrid ? ['runc', 'crun'] : ['crun', 'runc']) {
    if (await isProgram(name, path)) return name
  }
  return 'runc'
}

/** Fails when a program that a private runtime needs is not installed. Docker, where it answers, is named as the other way. */
export async function checkPrograms(path: string, askedOci: string | undefined, dockerEndpoint: string): Promise<void> {
  const missing: string[] = []
  const oci = askedOci ?? (await findOciRuntime(path))
  for (const [name, debianPackage] of [...Object.entries(programs), [oci, oci] as const]) {
    if (!(await isProgram(name, path)) && !missing.includes(debianPackage)) missing.push(debianPackage)
  }
  if (missing.length === 0) return
  const hasDocker = missing.includes('containerd') && (await canConnect(dockerEndpoint.replace('unix://', '')))
  const other = hasDocker ? '; or use the Docker of this machine: --runtime docker' : ''
  const message = `Cannot run a private runtime: programs are missing; on Debian: apt-get install ${missing.join(' ')}${other}`
  throw new NodeError(message, exitCodes.unfitMachine)
}

/** The runtime that "auto" means here: our own containerd where it is installed, else Docker where it answers. */
export async function chooseRuntime(path: string, dockerEndpoint: string): Promise<string | undefined> {
  if (await isProgram('containerd', path)) return undefined
  if (await canConnect(dockerEndpoint.replace('unix://', ''))) return dockerEndpoint
  const message = `Cannot choose a runtime: containerd is not installed, and Docker does not answer at "${dockerEndpoint}"`
  throw new NodeError(message, exitCodes.unfitMachine)
}

/** Fails when the machine does not have an address that API and agent are to be served on. */
export async function checkAddresses(addresses: readonly string[]): Promise<void> {
  if (addresses.length === 0) return
  const { fault } = await readNodeAddress({ nodeName: '', nodeIps: addresses })
  if (fault !== undefined) throw new NodeError(fault, exitCodes.unfitMachine)
}

/** Fails when the kernel has no IPv6, which was asked for. */
export function checkIpv6(): void {
  if (readKernelSetting('net.ipv6.conf.all.disable_ipv6') !== undefined) return
  throw new NodeError('Cannot use --ip-families IPv4,IPv6: this kernel has no IPv6', exitCodes.unfitMachine)
}

/** Fails when another process uses a port of the node, on loopback or on an address for other machines. */
export async function checkPorts(ports: NodePorts, addresses: readonly string[]): Promise<void> {
  const flags = {
    kubernetes: '--api-port',
    agent: '--port',
    healthz: '--healthz-port',
  } as const
  for (const name of ['kubernetes', 'agent', 'healthz'] as const) {
    for (const address of ['127.0.0.1', ...(name === 'healthz' ? [] : addresses)]) {
      if (await isFree(ports[name], address)) continue
      const where = address === '127.0.0.1' ? '' : ` of ${address}`
      const message = `Cannot listen on port ${ports[name]}${where}: it is taken (another node?), choose another with ${flags[name]}`
      throw new NodeError(message, exitCodes.unfitMachine)
    }
  }
}

/** The same for those of the ingress, which is on all addresses. */
export async function checkIngressPorts({ http, https }: IngressPorts): Promise<void> {
  for (const [port, flag] of [
    [http, '--ingress-http-port'],
    [https, '--ingress-https-port'],
  ] as const) {
    if (port === undefined || (await isFree(port))) continue
    const message = `Cannot serve Ingresses on port ${port}: it is taken (a web server?), choose another with ${flag}`
    throw new NodeError(message, exitCodes.unfitMachine)
  }
}

/** Fails when nothing listens on the socket of a runtime that the user named. */
export async function checkRuntime(endpoint: string): Promise<void> {
  if (await canConnect(endpoint.replace('unix://', ''))) return
  const message = `Cannot use the runtime "${endpoint}": nothing listens there; start it, or leave --runtime out for a private one`
  throw new NodeError(message, exitCodes.unfitMachine)
}

/** Adds to a failure of the file system what it means for the user. */
export function toFolderError(folder: string, error: unknown): unknown {
  const reasons: Readonly<Record<string, string>> = {
    EROFS: 'the disk is read-only',
    EACCES: 'no permission',
    EPERM: 'no permission',
    ENOSPC: 'the disk is full',
    ENOENT: 'it is no place for folders',
    ENOTDIR: 'a part of the path is a file',
    EEXIST: 'it is a file',
  }
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? '']
  if (reason === undefined) return error
  const message = `Cannot write to "${folder}": ${reason}; choose another folder`
  return new NodeError(message, exitCodes.unfitMachine, { cause: error })
}

function isFree(port: number, address?: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, address, () => server.close(() => resolve(true)))
  })
}

/** A folder to apply that is not there is most likely a wrong name: nothing starts then. */
export async function checkAppliedFolder(folder: string): Promise<void> {
  const found = await inspectPath(folder)
  if (found.kind === 'directory') return
  const why = found.kind === 'missing' ? 'there is no such folder' : 'it is not a folder'
  throw new NodeError(`Cannot use --apply "${folder}": ${why}`, exitCodes.wrongArguments)
}
