// Says whether commands can be started here.
import { isSupported } from 'argvault';

console.log(JSON.stringify(isSupported()));
