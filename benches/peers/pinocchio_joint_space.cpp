// Joint-space algebra of one robot by Pinocchio: values and times of its functions, for requests that are read.
//
// First come the robot and its state, as numbers between spaces: the count of bodies; of each its parent (a number, or -1), 0 for a hinge
// about x or 1 for a free joint, the pose of its joint frame in that of the parent at zero coordinates (x y z, quaternion x y z w), mass,
// centre of mass, and inertia about it (xx xy yy xz yz zz); gravity; q; v; accelerations; torques; a body, and a point in its frame. Then
// come requests, each answered by a line: `version`; `values NAME;` asks what a function computes (matrices by rows, six-vectors linear
// first); `time NAME; N` how many seconds N calls take. All is made of headers, with the compiler's options in `benches/src/pinocchio.rs`.

// Boost must be told how many kinds of joints and arguments Pinocchio has.
#define BOOST_MPL_CFG_NO_PREPROCESSED_HEADERS
#define BOOST_MPL_LIMIT_LIST_SIZE 30
#define BOOST_FUSION_INVOKE_MAX_ARITY 10

#include <chrono>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/centroidal.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace pin = pinocchio;
using Eigen::MatrixXd, Eigen::Vector3d, Eigen::VectorXd;

static double number() {
    double value;
    std::cin >> value;
    return value;
}

static Vector3d vector() {
    const double x = number(), y = number(), z = number();
    return {x, y, z};
}

static VectorXd numbers(int n) {
    VectorXd values(n);
    for (double& value : values) value = number();
    return values;
}

static pin::SE3 pose() {
    const Vector3d place = vector(), turn = vector();
    return {Eigen::Quaterniond(number(), turn.x(), turn.y(), turn.z()).normalized().toRotationMatrix(), place};
}

static pin::Inertia inertia() {
    const double mass = number();
    const Vector3d centre = vector();
    const VectorXd lower = numbers(6);
    return {mass, centre, pin::Symmetric3(lower(0), lower(1), lower(2), lower(3), lower(4), lower(5))};
}

static pin::Model robot() {
    pin::Model model;
    const int n = static_cast<int>(number());
    for (int body = 0; body < n; ++body) {
        const auto parent = static_cast<pin::JointIndex>(number() + 1);
        const bool is_free = number() != 0;
        const pin::SE3 place = pose();
        const std::string name = "body " + std::to_string(body);
        const auto joint = is_free ? model.addJoint(parent, pin::JointModelFreeFlyer(), place, name)
                                   : model.addJoint(parent, pin::JointModelRX(), place, name);
        model.appendBodyToJoint(joint, inertia(), pin::SE3::Identity());
    }
    model.gravity.linear() = vector();
    return model;
}

static VectorXd rows(const MatrixXd& m) { return m.transpose().reshaped(); }

// Of a symmetric matrix whose upper triangle is known.
static VectorXd both(const MatrixXd& m) { return rows(m.selfadjointView<Eigen::Upper>()); }

template <typename... Parts>
static VectorXd joined(const Parts&... parts) {
    VectorXd all((parts.size() + ...));
    int first = 0;
    ((all.segment(first, parts.size()) = VectorXd(parts.reshaped()), first += parts.size()), ...);
    return all;
}

struct Function {
    std::string name;
    std::function<void()> run;
    std::function<VectorXd()> values;
};

int main() {
    pin::Model model = robot();
    const VectorXd q = numbers(model.nq), v = numbers(model.nv), a = numbers(model.nv), tau = numbers(model.nv);
    const auto last = static_cast<pin::JointIndex>(number() + 1);
    const auto frame = model.addFrame(pin::Frame("tip", last, 0, pin::SE3(Eigen::Matrix3d::Identity(), vector()), pin::OP_FRAME));
    const auto axes = pin::LOCAL_WORLD_ALIGNED;
    pin::Data data(model);
    pin::Data::Matrix6x jacobian = pin::Data::Matrix6x::Zero(6, model.nv);

    const std::vector<Function> functions = {
        {"forwardKinematics", [&] { pin::forwardKinematics(model, data, q, v); },
         [&] {
             VectorXd all(0);
             for (int joint = 1; joint < model.njoints; ++joint) {
                 const pin::SE3& place = data.oMi[joint];
                 const pin::Motion& twist = data.v[joint];
                 const Vector3d velocity = place.rotation() * twist.linear(), spin = place.rotation() * twist.angular();
                 all = joined(all, place.translation(), velocity, spin);
             }
             return all;
         }},
        {"aba", [&] { pin::aba(model, data, q, v, tau); }, [&] { return data.ddq; }},
        {"aba (world)", [&] { pin::aba(model, data, q, v, tau, pin::Convention::WORLD); }, [&] { return data.ddq; }},
        {"rnea", [&] { pin::rnea(model, data, q, v, a); }, [&] { return data.tau; }},
        {"nonLinearEffects", [&] { pin::nonLinearEffects(model, data, q, v); }, [&] { return data.nle; }},
        {"computeGeneralizedGravity", [&] { pin::computeGeneralizedGravity(model, data, q); }, [&] { return data.g; }},
        {"crba", [&] { pin::crba(model, data, q); }, [&] { return both(data.M); }},
        {"crba (world)", [&] { pin::crba(model, data, q, pin::Convention::WORLD); }, [&] { return both(data.M); }},
        {"computeMinverse", [&] { pin::computeMinverse(model, data, q); }, [&] { return both(data.Minv); }},
        {"computeCoriolisMatrix", [&] { pin::computeCoriolisMatrix(model, data, q, v); }, [&] { return VectorXd(data.C * v); }},
        {"computeRNEADerivatives", [&] { pin::computeRNEADerivatives(model, data, q, v, a); },
         [&] { return joined(rows(data.dtau_dq), rows(data.dtau_dv), both(data.M)); }},
        {"computeABADerivatives", [&] { pin::computeABADerivatives(model, data, q, v, tau); },
         [&] { return joined(rows(data.ddq_dq), rows(data.ddq_dv), both(data.Minv)); }},
        {"computeFrameJacobian", [&] { pin::computeFrameJacobian(model, data, q, frame, axes, jacobian); }, [&] { return rows(jacobian); }},
        {"getFrameJacobian",
         [&] {
             pin::computeJointJacobians(model, data, q);
             pin::getFrameJacobian(model, data, frame, axes, jacobian);
         },
         [&] { return rows(jacobian); }},
        {"getFrameJacobianTimeVariation",
         [&] {
             pin::computeJointJacobiansTimeVariation(model, data, q, v);
             pin::updateFramePlacement(model, data, frame);
             pin::getFrameJacobianTimeVariation(model, data, frame, axes, jacobian);
         },
         [&] { return rows(jacobian); }},
        {"centerOfMass", [&] { pin::centerOfMass(model, data, q, false); }, [&] { return VectorXd(data.com[0]); }},
        {"computeCentroidalMomentum", [&] { pin::computeCentroidalMomentum(model, data, q, v); }, [&] { return VectorXd(data.hg.toVector()); }},
        {"ccrba", [&] { pin::ccrba(model, data, q, v); }, [&] { return rows(data.Ag); }},
        {"computeCentroidalMap", [&] { pin::computeCentroidalMap(model, data, q); }, [&] { return rows(data.Ag); }},
    };

    std::cout.precision(17);
    for (std::string request, name; std::cin >> request;) {
        if (request == "version") {
            std::cout << "Pinocchio " << PINOCCHIO_VERSION << ", C++ compiler " << __VERSION__ << std::endl;
            continue;
        }
        std::getline(std::cin >> std::ws, name, ';');
        for (const Function& function : functions) {
            if (function.name != name) continue;
            if (request == "values") {
                function.run();
                std::cout << function.values().transpose() << std::endl;
            } else {
                const int n = static_cast<int>(number());
                const auto start = std::chrono::steady_clock::now();
                for (int call = 0; call < n; ++call) function.run();
                const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
                std::cout << seconds.count() << std::endl;
            }
        }
    }
}
