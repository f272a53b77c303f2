import * as argvault from 'argvault';
import shared from '../cases.cjs';

test.each(Object.entries(shared.cases(argvault)))('%s', (_, run) => run());
