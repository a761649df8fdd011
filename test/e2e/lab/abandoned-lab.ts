/** Makes a lab with a container, says where, and waits to be killed: for the test of what is left then. */
import { readlink } from 'node:fs/promises'
import { BUSYBOX_IMAGE } from '../../../src/standalone/images/node-images.ts'
import { startLab } from './start-lab.ts'

const { folder, cgroupRoot, containerd } = await startLab()
await containerd.ctr('run', '--detach', '--cgroup', `${cgroupRoot}/left`, BUSYBOX_IMAGE, 'left', 'sleep', '1000')
const namespace = await readlink(`/proc/${await containerd.pid()}/ns/net`)
console.log(JSON.stringify({ folder, cgroupRoot, namespace }))
