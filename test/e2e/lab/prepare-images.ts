/** Imports the node's images once for many labs, into the folder that IMAGE_STORE will name. Usage: prepare-images.ts FOLDER */
import process from 'node:process'
import { copyImageStore } from './image-store.ts'
import { startLab } from './start-lab.ts'

const [folder = ''] = process.argv.slice(2)
await using lab = await startLab()
await lab.containerd.stop()
await copyImageStore(lab.containerd.root, folder)
